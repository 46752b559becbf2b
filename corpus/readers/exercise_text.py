"""Notebook 1 written out a second time, so that tests do not measure the grader with itself."""

from __future__ import annotations

import contextlib
import io
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from unittest import mock

import torch
import torch.nn.functional as F
from torch import Tensor

from corpus.readers import places

Namespace = dict[str, Any]

ANSWERS = places.ANSWERS / "ex1"

INPUTS = ("Xb", "Yb", "C", "W1", "b1", "bngain", "bnbias", "W2", "b2")
FORWARD = """\
n = Xb.shape[0]
emb = C[Xb]
embcat = emb.view(n, -1)
hprebn = embcat @ W1 + b1
bnmeani = 1 / n * hprebn.sum(0, keepdim=True)
bndiff = hprebn - bnmeani
bndiff2 = bndiff**2
bnvar = 1 / (n - 1) * bndiff2.sum(0, keepdim=True)
bnvar_inv = (bnvar + 1e-5) ** -0.5
bnraw = bndiff * bnvar_inv
hpreact = bngain * bnraw + bnbias
h = torch.tanh(hpreact)
logits = h @ W2 + b2
logit_maxes = logits.max(1, keepdim=True).values
norm_logits = logits - logit_maxes
counts = norm_logits.exp()
counts_sum = counts.sum(1, keepdim=True)
counts_sum_inv = counts_sum**-1
probs = counts * counts_sum_inv
logprobs = probs.log()
loss = -logprobs[range(n), Yb].mean()
"""
GRADIENTS = (
    *("dlogprobs", "dprobs", "dcounts_sum_inv", "dcounts_sum", "dcounts"),
    *("dnorm_logits", "dlogit_maxes", "dlogits"),
    *("dh", "dW2", "db2"),
    *("dhpreact",),
    *("dbngain", "dbnbias", "dbnraw", "dbnvar_inv", "dbnvar", "dbndiff2", "dbndiff", "dbnmeani"),
    *("dhprebn", "dembcat", "dW1", "db1"),
    *("demb", "dC"),
)
ZERO_BY_STRUCTURE = ("dlogit_maxes", "db1")


@dataclass(frozen=True, slots=True)
class Sizes:
    """The five sizes of an instance of notebook 1."""

    n: int
    vocab_size: int
    n_embd: int
    n_hidden: int
    block_size: int


LECTURE = Sizes(n=32, vocab_size=27, n_embd=10, n_hidden=64, block_size=3)


def forward_values(sizes: Sizes, seed: int, dtype: torch.dtype = torch.float64) -> Namespace:
    """Everything that stands ready for an answer: modules, sizes, inputs, the forward pass.

    Inputs are normal numbers, matrices divided by the square root of their first dimension, so
    that biases, gains and every branch are far from the values that hide mistakes.
    """
    generator = torch.Generator().manual_seed(seed)
    n, vocab_size, n_embd, n_hidden, block_size = (getattr(sizes, s) for s in Sizes.__slots__)

    def normal(*shape: int) -> Tensor:
        # Drawn in float64 whatever the dtype, so that a seed means one instance.
        drawn = torch.randn(*shape, generator=generator, dtype=torch.float64)
        return (drawn / shape[0] ** 0.5 if len(shape) == 2 else drawn).to(dtype)

    values: Namespace = {name: getattr(sizes, name) for name in Sizes.__slots__}
    values |= {"torch": torch, "F": F}
    values |= {
        "Xb": torch.randint(0, vocab_size, (n, block_size), generator=generator),
        "Yb": torch.randint(0, vocab_size, (n,), generator=generator),
        "C": normal(vocab_size, n_embd),
        "W1": normal(block_size * n_embd, n_hidden),
        "b1": normal(n_hidden),
        "bngain": normal(1, n_hidden),
        "bnbias": normal(1, n_hidden),
        "W2": normal(n_hidden, vocab_size),
        "b2": normal(vocab_size),
    }
    exec(FORWARD, values)
    return values


def reference_gradients(values: Mapping[str, Any]) -> dict[str, Tensor]:
    """The 26 gradients by autograd, in the shapes and dtypes of their tensors."""
    attached: Namespace = {name: values[name] for name in INPUTS} | {"torch": torch}
    for name, value in attached.items():
        if isinstance(value, Tensor) and value.is_floating_point():
            attached[name] = value.clone().requires_grad_()
    exec(FORWARD, attached)
    tensors = [attached[name.removeprefix("d")] for name in GRADIENTS]
    return dict(zip(GRADIENTS, torch.autograd.grad(attached["loss"], tensors), strict=True))


def lecture_notebook() -> Namespace:
    """The lecture's cells: every tensor keeps its gradient, and `loss.backward()` has run."""
    names: Namespace = {"__name__": "__main__"} | forward_values(LECTURE, seed=1)
    for name in INPUTS:
        if names[name].is_floating_point():
            names[name].requires_grad_()
    exec(FORWARD, names)
    for gradient in GRADIENTS:
        names[gradient[1:]].retain_grad()
    names["loss"].backward(retain_graph=True)
    return names


def read_cells(source: str) -> list[tuple[str, str]]:
    """The answer cells of a text of answers: (grade_id, source that begins with the marker)."""
    marker = re.compile(r"^# answer: (\S+)$", re.MULTILINE)
    found = list(marker.finditer(source))
    ends = [match.start() for match in found[1:]] + [len(source)]
    return [(m[1], source[m.start() : end]) for m, end in zip(found, ends, strict=True)]


def right_answers() -> dict[str, str]:
    """Every right answer of notebook 1 by its style."""
    return {p.stem: p.read_text(encoding="utf-8") for p in sorted(ANSWERS.glob("right/*.py"))}


def sample_submissions() -> dict[str, str]:
    """The sample submissions of notebook 1 by name."""
    return {p.stem: p.read_text(encoding="utf-8") for p in sorted(ANSWERS.glob("samples/*.py"))}


@contextlib.contextmanager
def double_precision() -> Iterator[None]:
    """The same code at double precision: every spelling of float32 means float64."""
    default = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        with (
            mock.patch.object(Tensor, "float", Tensor.double),
            mock.patch.object(torch, "float32", torch.float64),
            mock.patch.object(torch, "float", torch.float64),
        ):
            yield
    finally:
        torch.set_default_dtype(default)


def run_answer(source: str, values: Mapping[str, Any]) -> Namespace:
    """The names after an answer ran, cell after cell, on the values that stand ready.

    What the answer prints is swallowed. Exceptions of the answer come out as they are.
    """
    names = dict(values)
    with contextlib.redirect_stdout(io.StringIO()):
        for grade_id, cell in read_cells(source):
            exec(compile(cell, grade_id, "exec"), names)
    return names


def worst_difference(value: object, reference: Tensor) -> float:
    """The largest absolute difference; inf for what is no gradient of this tensor at all.

    No gradient of this tensor: another type, shape or dtype, or a number that is not finite.
    """
    if not isinstance(value, Tensor) or value.shape != reference.shape:
        return float("inf")
    if value.dtype != reference.dtype or not bool(value.isfinite().all()):
        return float("inf")
    return float((value - reference).abs().max())
