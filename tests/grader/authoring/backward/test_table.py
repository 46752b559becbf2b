"""Every row of the table hands a random upstream on as autograd does, whatever the shapes."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from itertools import product
from pathlib import Path

import pytest
import torch

import grader.authoring.backward
from grader.authoring.backward.derive import derive
from grader.authoring.backward.table import Row
from grader.program.compare import agrees
from grader.program.forward_program import is_differentiable
from grader.program.references import References, references_on
from tests.helpers.written_programs import SCOPE, write_program

FILE = Path(grader.authoring.backward.__file__).parent / "table.toml"
TABLE = tomllib.loads(FILE.read_text(encoding="utf-8"))
NO_RULES = ("copying", "aliases", "nouns")
KINDS = {key: kind for kind in TABLE if kind not in NO_RULES for key in TABLE[kind]}

INPUTS: Mapping[int, Mapping[str, str]] = {
    1: {"x": "m", "z": "m", "one": "1", "row": "m"},
    2: {
        "scale": "",
        "x": "n, m",
        "z": "n, m",
        "one": "n, 1",
        "row": "m",
        "W": "m, k",
        "c": "m < n",
    },
    3: {"x": "t, n, m", "z": "t, n, m", "one": "1, n, 1", "row": "1, m", "W": "m, k"},
    4: {
        "scale": "",
        "x": "s, t, n, m",
        "z": "s, t, n, m",
        "one": "t, 1, m",
        "row": "m",
        "W": "t, m, k",
    },
}
"""For each number of axes, tensors that fit: `one` and `row` are copied along some axes.

There is a number `scale`, too."""

MATRIX = (2,)
NOT_VECTOR = (2, 3, 4)
ALL = (1, 2, 3, 4)

EXAMPLES: Mapping[str, tuple[tuple[int, ...], tuple[str, ...]]] = {
    "x + z": (ALL, ("x + z", "x + row", "one + x", "x.add(2)", "1.5 + x")),
    "x - z": (ALL, ("x - z", "row - x", "torch.sub(x, one)")),
    "-x": (ALL, ("-x", "x.neg()")),
    "x * z": (
        ALL,
        ("x * z", "x * x", "row * x * one", "scale * x", "torch.mul(x, one)", "3 * x"),
    ),
    "prod(x, dim=None, keepdim=False)": (ALL, ("x.prod()", "x.prod(-1)", "x.prod(0, True)")),
    "x / z": (
        ALL,
        ("x / (z**2 + 1)", "x / (row**2 + 1)", "x / (scale**2 + 1)", "one / (x**2 + 1)", "x / 3"),
    ),
    "reciprocal(x)": (ALL, ("(x**2 + 1).reciprocal()",)),
    "x ** z": (ALL, ("x**2", "x**3", "(x**2 + 1) ** -0.5", "(x**2 + 1) ** row", "x.pow(2)")),
    "square(x)": (ALL, ("x.square()",)),
    "sqrt(x)": (ALL, ("(x**2 + 1).sqrt()",)),
    "rsqrt(x)": (ALL, ("torch.rsqrt(x**2 + 1)",)),
    "exp(x)": (ALL, ("x.exp()", "torch.exp(-x) * x")),
    "expm1(x)": (ALL, ("x.expm1()",)),
    "log(x)": (ALL, ("(x**2 + 1).log()",)),
    "log1p(x)": (ALL, ("torch.log1p(x**2)",)),
    "abs(x)": (ALL, ("x.abs()",)),
    "sign(x)": (ALL, ("x.sign() * x",)),
    "sin(x)": (ALL, ("x.sin()",)),
    "cos(x)": (ALL, ("x.cos()",)),
    "tan(x)": (ALL, ("(0.3 * x).tan()",)),
    "atan(x)": (ALL, ("x.atan()", "torch.arctan(x)")),
    "atan2(x, z)": (ALL, ("torch.atan2(x, z)", "x.atan2(row)")),
    "sinh(x)": (ALL, ("x.sinh()",)),
    "cosh(x)": (ALL, ("x.cosh()",)),
    "tanh(x)": (ALL, ("x.tanh()", "torch.tanh(x * row)")),
    "sigmoid(x)": (ALL, ("torch.sigmoid(x)", "F.sigmoid(x)")),
    "logsigmoid(x)": (ALL, ("F.logsigmoid(x)",)),
    "softplus(x)": (ALL, ("F.softplus(x)",)),
    "erf(x)": (ALL, ("torch.erf(x)",)),
    "silu(x)": (ALL, ("F.silu(x)", "2 * F.silu(x * one)")),
    "gelu(x, approximate: 'none' = 'none')": (ALL, ("F.gelu(x)", "F.gelu(3 * x)")),
    "gelu(x, approximate: 'tanh' = 'none')": (ALL, ('F.gelu(x, approximate="tanh")',)),
    "elu(x, alpha=1.0)": (ALL, ("F.elu(x)", "F.elu(x, alpha=0.5)")),
    "relu(x)": (ALL, ("F.relu(x)", "x.relu()")),
    "relu6(x)": (ALL, ("F.relu6(5 * x)",)),
    "leaky_relu(x, negative_slope=0.01)": (ALL, ("F.leaky_relu(x)", "F.leaky_relu(x, 0.2)")),
    "clamp(x, min)": (ALL, ("x.clamp(min=0.1)", "x.clamp(0)")),
    "clamp(x, max)": (ALL, ("torch.clip(x, max=0.2)",)),
    "clamp(x, min, max)": (ALL, ("x.clamp(-0.2, 0.3)", "x.clamp(max=0.3, min=-0.2)")),
    "where(mask, x, z)": (ALL, ("torch.where(x > z, x, row)", "torch.where(z > 0, 0.0, one * x)")),
    "masked_fill(x, mask, value)": (ALL, ("x.masked_fill(z > 0, 0.5)",)),
    "maximum(x, z)": (ALL, ("torch.maximum(x, z)", "x.maximum(row)")),
    "minimum(x, z)": (ALL, ("torch.minimum(one, x)",)),
    "max(x, z)": (ALL, ("torch.max(x, row)",)),
    "min(x, z)": (ALL, ("x.min(z)",)),
    "copysign(x, z)": (ALL, ("torch.copysign(x, row)",)),
    "expand(x, *shape)": (
        NOT_VECTOR,
        ("row.expand_as(x)", "torch.broadcast_to(row, x.shape)", "x[None].expand(3, *x.shape)"),
    ),
    "max(x)": (ALL, ("x.max() * x",)),
    "min(x)": (ALL, ("x.min()",)),
    "amax(x, dim=None, keepdim=False)": (ALL, ("x.amax(-1)", "x.amax(0, keepdim=True)")),
    "amin(x, dim=None, keepdim=False)": (ALL, ("x.amin(0)", "x.amin()")),
    "max(x, dim, keepdim=False, *, part: 0)": (
        ALL,
        ("x.max(-1).values", "torch.max(x, 0, keepdim=True)[0]"),
    ),
    "min(x, dim, keepdim=False, *, part: 0)": (ALL, ("x.min(dim=0).values",)),
    "sort(x, dim=-1, descending=None, *, part: 0)": (
        ALL,
        ("x.sort().values", "x.sort(0)[0]", "x.sort(-1, descending=True).values"),
    ),
    "topk(x, k, dim=-1, *, part: 0)": (ALL, ("x.topk(2).values", "x.topk(2, dim=0)[0]")),
    "x @ z": (
        NOT_VECTOR,
        ("x @ W", "x @ z.mT", "torch.matmul(x, W)", "x @ x.transpose(-1, -2)"),
    ),
    "matvec(x, z)": (MATRIX, ("x @ row.flatten()",)),
    "vecmat(x, z)": (MATRIX, ("row.flatten() @ x.mT",)),
    "outer(x, z)": ((1,), ("torch.outer(x, z)",)),
    "linear(x, z)": (NOT_VECTOR, ("F.linear(x, W.mT.flatten(0, -2))",)),
    "linear(x, z, bias)": (MATRIX, ("F.linear(x, z, z.sum(1))",)),
    "einsum(equation, x)": (
        NOT_VECTOR,
        ('torch.einsum("...ij->...ji", x)',),
    ),
    "einsum(equation, x, z)": (
        NOT_VECTOR,
        (
            'torch.einsum("...ij,...kj->...ik", x, z)',
            'torch.einsum("am,ma", x.flatten(0, -2), x.flatten(0, -2).T)',
            'torch.einsum("...ij,...ij->...ij", x, z)',
        ),
    ),
    "sum(x, dim=None, keepdim=False)": (
        ALL,
        (
            "x.sum()",
            "x.sum(0)",
            "x.sum(-1, keepdim=True) * z",
            "torch.sum(x * row, dim=0)",
        ),
    ),
    "mean(x, dim=None, keepdim=False)": (
        ALL,
        ("x.mean()", "x.mean(0) * z", "x.mean(-1, True)", "x.mean(axis=-1, keepdims=True)"),
    ),
    "cumsum(x, dim)": (ALL, ("x.cumsum(0)", "x.cumsum(dim=-1)")),
    "var(x, dim=None, unbiased: True = True, keepdim=False)": (ALL, ("x.var(0)", "x.var()")),
    "var(x, dim=None, unbiased: False = True, keepdim=False)": (
        ALL,
        ("x.var(-1, False)", "x.var(0, unbiased=False, keepdim=True)"),
    ),
    "var(x, dim=None, *, correction: 0, keepdim=False)": (ALL, ("x.var(-1, correction=0)",)),
    "var(x, dim=None, *, correction, keepdim=False)": (
        ALL,
        ("x.var(dim=0, correction=0.5, keepdim=True)",),
    ),
    "std(x, dim=None, unbiased: True = True, keepdim=False)": (ALL, ("x.std(0)", "x.std()")),
    "std(x, dim=None, unbiased: False = True, keepdim=False)": (ALL, ("x.std(-1, False, True)",)),
    "std(x, dim=None, *, correction: 0, keepdim=False)": (ALL, ("x.std(-1, correction=0)",)),
    "std(x, dim=None, *, correction, keepdim=False)": (ALL, ("x.std(0, correction=0.5)",)),
    "norm(x, p: 1 = 2, dim=None, keepdim=False)": (ALL, ("x.norm(1)", "x.norm(p=1, dim=0)")),
    "norm(x, p: 2 = 2, dim=None, keepdim=False)": (
        ALL,
        ("x.norm()", "x.norm(dim=-1)", "torch.linalg.vector_norm(x, dim=0, keepdim=True)"),
    ),
    "normalize(x, p: 2 = 2, dim=1)": (ALL, ("F.normalize(x, dim=-1)", "F.normalize(x, dim=0)")),
    "softmax(x, dim)": (ALL, ("x.softmax(-1)", "F.softmax(x, dim=0)")),
    "log_softmax(x, dim)": (ALL, ("x.log_softmax(-1)", "F.log_softmax(x, 0)")),
    "logsumexp(x, dim, keepdim=False)": (ALL, ("x.logsumexp(-1)", "x.logsumexp(0, True)")),
    "x.T": (MATRIX, ("x.T", "x.t()")),
    "x.mT": (NOT_VECTOR, ("x.mT", "x.transpose(-1, -2)")),
    "transpose(x, one, other)": ((3, 4), ("x.transpose(0, 1)", "x.swapaxes(0, -1)")),
    "permute(x, *order)": ((3,), ("x.permute(2, 0, 1)", "x.permute((1, -1, 0))")),
    "movedim(x, one, other)": (NOT_VECTOR, ("x.movedim(-1, 0)", "x.movedim(0, 1)")),
    "reshape(x, *shape)": (
        NOT_VECTOR,
        ("x.flatten()", "x.view(-1)", "x.unsqueeze(1)", "x[:, None]", "x.flatten(0, 1)"),
    ),
    "flip(x, *dims)": (NOT_VECTOR, ("x.flip(0)", "x.flip(0, 1)", "x.flip((0, -1))")),
    "roll(x, shifts, dims)": (ALL, ("x.roll(1, 0)", "x.roll(-2, dims=-1)")),
    "triu(x, diagonal=None)": (NOT_VECTOR, ("x.triu()", "x.triu(1)")),
    "tril(x, diagonal=None)": (NOT_VECTOR, ("x.tril()", "x.tril(diagonal=-1)")),
    "diagonal(x)": (MATRIX, ("(x.T @ x).diagonal()",)),
    "pad(x, widths)": (ALL, ("F.pad(x, (2, 1))",)),
    "contiguous(x)": (ALL, ("x.contiguous()",)),
    "clone(x)": (ALL, ("x.clone()",)),
    "type_as(x, *like)": (ALL, ("x.double()", "x.to(z.dtype)", "(x > 0).double() * x")),
    "gather(x, dim, index)": (NOT_VECTOR, ("x.gather(-1, x.argsort(-1)[..., :2])",)),
    "take_along_dim(x, index, dim)": (
        NOT_VECTOR,
        ("torch.take_along_dim(x, x.argmax(0, keepdim=True), 0)",),
    ),
    "index_select(x, dim, index)": (
        NOT_VECTOR,
        ("x.index_select(1, torch.tensor([0, 1, 0]))",),
    ),
    "embedding(index, x)": (
        MATRIX,
        ("F.embedding(c, x)", "F.embedding(c[:, None], x)"),
    ),
    "placed(x, index)": (
        ALL,
        ("x[0]", "x[1:]", "x[..., ::2]", "x[x > z]", "x[:1] + x[-1]", "x[torch.arange(2)]"),
    ),
    "added(x, dim, index)": (ALL, ("x[torch.tensor([1, 0, 1])]",)),
    "put(x, index)": (MATRIX, ("x[c]", "x[c, 0 * c]", "x[c[:, None]]")),
    "select(x, dim, index)": (ALL, ("x.select(0, 1)", "x.select(-1, 0)")),
    "narrow(x, dim, start, length)": (ALL, ("x.narrow(0, 1, 2)",)),
    "chunk(x, chunks, dim=0, *, part)": (ALL, ("x.chunk(2)[0]", "x.chunk(2, dim=-1)[1]")),
    "split(x, lengths, dim=0, *, part)": (ALL, ("x.split(2)[0]", "x.split(2, -1)[1]")),
    "unbind(x, dim=0, *, part)": (ALL, ("x.unbind()[1]", "x.unbind(-1)[0]")),
    "scatter(x, dim, index, source)": (
        ALL,
        ("x.scatter(0, z.argmax(0, keepdim=True), z[:1])", "x.scatter(0, z.argsort(0), 0.5)"),
    ),
    "scatter_add(x, dim, index, source)": (ALL, ("x.scatter_add(0, z.argsort(0) // 2, z)",)),
    "index_add(x, dim, index, source)": (ALL, ("x.index_add(0, torch.tensor([1, 1]), z[:2])",)),
    "unfold(x, dim, size, step)": (
        ALL,
        ("x.unfold(0, 2, 1)", "x.unfold(-1, 2, 2)", "x.unfold(-1, 3, 1).tanh()"),
    ),
    "joined(x, place)": (
        ALL,
        (
            *("torch.cat([x, z])", "torch.cat((z, x, z), dim=-1)", "torch.stack([x, z, x])"),
            *(
                "torch.stack((z, x), -1)",
                "torch.stack([x, z]).mean(0)",
                "torch.cat([z, x]).sum(0)",
                "torch.cat([x[:1], x[1:]], 0)",
            ),
        ),
    ),
    "cross_entropy(x, target, *, reduction: 'mean' = 'mean')": (
        MATRIX,
        ("F.cross_entropy(x.T, c)", "2 * F.cross_entropy(x.T * one.T, c)"),
    ),
    "cross_entropy(x, target, *, reduction: 'sum' = 'mean')": (
        MATRIX,
        ('F.cross_entropy(x.T, c, reduction="sum")',),
    ),
    "cross_entropy(x, target, *, label_smoothing)": (
        MATRIX,
        ("F.cross_entropy(x.T, c, label_smoothing=0.2)",),
    ),
    "nll_loss(x, target, *, reduction: 'mean' = 'mean')": (
        MATRIX,
        ("F.nll_loss(x.T, c)", "F.nll_loss(x.T.log_softmax(1), c)"),
    ),
    "nll_loss(x, target, *, reduction: 'sum' = 'mean')": (
        MATRIX,
        ('F.nll_loss(x.T, c, reduction="sum")',),
    ),
    "mse_loss(x, z, *, reduction: 'mean' = 'mean')": (ALL, ("F.mse_loss(x, z)",)),
    "mse_loss(x, z, *, reduction: 'sum' = 'mean')": (ALL, ('F.mse_loss(x, z, reduction="sum")',)),
    "l1_loss(x, z)": (ALL, ("F.l1_loss(x, z)",)),
    "smooth_l1_loss(x, z)": (ALL, ("F.smooth_l1_loss(3 * x, z)",)),
    "kl_div(x, target, *, reduction: 'batchmean')": (
        NOT_VECTOR,
        ('F.kl_div(x.log_softmax(-1), (z > 0).double(), reduction="batchmean")',),
    ),
    "kl_div(x, target, *, reduction: 'sum')": (
        ALL,
        ('F.kl_div(x, (z > 0).double(), reduction="sum")',),
    ),
    "binary_cross_entropy_with_logits(x, target)": (
        ALL,
        ("F.binary_cross_entropy_with_logits(x, (z > 0).double())",),
    ),
    "binary_cross_entropy(x, target)": (
        ALL,
        ("F.binary_cross_entropy(x.sigmoid(), (z > 0).double())",),
    ),
}
"""For each row the numbers of axes that it is tried with, and expressions of which it is part."""

OF_SEVERAL_AXES = {
    "sum(x, dim=None, keepdim=False)": ("x.sum((0, -1))", "z + x.sum((0, 1), keepdim=True)"),
    "mean(x, dim=None, keepdim=False)": ("x.mean((0, -1))", "x.mean(dim=(-1, -2), keepdim=True)"),
    "var(x, dim=None, unbiased: True = True, keepdim=False)": ("x.var((0, -1))",),
    "std(x, dim=None, unbiased: True = True, keepdim=False)": ("x.std((0, 1), keepdim=True)",),
    "amax(x, dim=None, keepdim=False)": ("x.amax((0, -1))",),
    "logsumexp(x, dim, keepdim=False)": ("x.logsumexp((0, 1))",),
    "norm(x, p: 2 = 2, dim=None, keepdim=False)": ("torch.linalg.norm(x, dim=(0, 1))",),
}
"""More of them, for two axes and more."""

CASES = [
    (key, rank, expression)
    for key, (ranks, expressions) in [
        *EXAMPLES.items(),
        *((key, (NOT_VECTOR, several)) for key, several in OF_SEVERAL_AXES.items()),
    ]
    for rank, expression in product(ranks, expressions)
]


def references_at_random(expression: str, rank: int) -> References:
    """The references of one line, on instances whose sizes are drawn."""
    program = write_program(
        f"out = {expression}\nloss = (out * out.sin()).sum()", {**INPUTS[rank], "scale": ""}
    )
    generator = torch.Generator().manual_seed(hash_of(expression))
    shown, *hidden = (
        program.instance(
            dict(zip("nmkts", (torch.randperm(5, generator=generator) + 3).tolist(), strict=True)),
            seed,
            torch.float64,
        )
        for seed in range(3)
    )
    return references_on(shown, hidden, program, seed=1)


def hash_of(text: str) -> int:
    """A seed that is the same in every process."""
    return sum(place * ord(letter) for place, letter in enumerate(text, 1))


def test_every_row_has_examples() -> None:
    assert EXAMPLES.keys() == KINDS.keys()


@pytest.mark.parametrize(("key", "rank", "expression"), CASES)
def test_a_row_hands_on_what_autograd_does(key: str, rank: int, expression: str) -> None:
    references = references_at_random(expression, rank)
    program, rules = references.program, set[str]()
    first = references.hidden[0].instance.values
    for tensor in program.inputs:
        if tensor in program.steps[0].reads and is_differentiable(first[tensor]):
            derived = derive(references, tensor)
            rules |= {rule for passed in derived.rules.values() for rule in passed}
            for reference in references.hidden:
                names = {**SCOPE, **reference.instance.sizes, **reference.instance.values}
                names["dout"] = reference.cotangents["out"]
                exec("\n".join(derived.lines), names)
                due = reference.local_vjp(tensor, {"out"})
                assert names[f"d{tensor}"].shape == due.shape
                assert agrees(names[f"d{tensor}"], due, floor=1.0, tolerance=1e-9), derived.lines
    assert KINDS[key] in rules or "" in Row.read("", key, TABLE[KINDS[key]][key]).rules.values()
