"""What shows a fault: the values of a whole answer, random upstreams, or nothing at all."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cache
from types import CodeType
from typing import Any

import torch
from torch import Tensor

from corpus.readers.exercise_text import (
    ZERO_BY_STRUCTURE,
    Namespace,
    Sizes,
    double_precision,
    forward_values,
    reference_gradients,
    worst_difference,
)
from corpus.readers.faults import Fault, owners

INSTANCES = (
    Sizes(n=7, vocab_size=11, n_embd=3, n_hidden=5, block_size=2),
    Sizes(n=13, vocab_size=6, n_embd=4, n_hidden=9, block_size=5),
)
TOLERANCE = 1e-7


@dataclass(frozen=True, slots=True)
class Seen:
    """Where a fault shows.

    `wrong` are the gradients of the whole answer that differ from autograd's, or the faulty one
    where the answer raises. `locally` says that for the same random upstreams the faulty statements
    give another result than the right ones, or change an upstream that they were handed.
    """

    wrong: frozenset[str]
    locally: bool


def look(fault: Fault, right: str) -> Seen:
    """Run a fault on two float64 instances, beside the right answer it was made from."""
    wrong: set[str] = set()
    locally = False
    carrier = _find_carrier(fault.source, right)
    for sizes in INSTANCES:
        wrong |= _wrong_gradients(fault, sizes)
        expected, _ = _local_result(right, right, carrier, sizes)
        result, intact = _local_result(fault.source, right, carrier, sizes)
        assert isinstance(expected, Tensor)
        limit = TOLERANCE * float(expected.abs().max())
        locally |= not (intact and worst_difference(result, expected) <= limit)
    return Seen(frozenset(wrong), locally)


def _find_carrier(source: str, right: str) -> str:
    """The gradient that the statement with the fault works for."""
    statements = zip(ast.parse(source).body, ast.parse(right).body, strict=True)
    changed = [i for i, (new, old) in enumerate(statements) if ast.dump(new) != ast.dump(old)]
    assert len(changed) == 1
    return owners(right)[changed[0]]


@cache
def _instance(sizes: Sizes) -> tuple[Namespace, dict[str, Tensor], dict[str, Tensor]]:
    """Forward values, reference gradients, and random numbers in the shape of each gradient."""
    values = forward_values(sizes, seed=sizes.n)
    references = reference_gradients(values)
    generator = torch.Generator().manual_seed(sizes.n + 1)
    upstreams = {
        name: torch.randn(reference.shape, generator=generator, dtype=reference.dtype)
        for name, reference in references.items()
    }
    return values, references, upstreams


def _wrong_gradients(fault: Fault, sizes: Sizes) -> set[str]:
    values, references, _ = _instance(sizes)
    try:
        names = _run(compile(fault.source, "<answer>", "exec"), values)
    except Exception:  # whatever a fault makes of an answer
        return {fault.gradient}
    wrong: set[str] = set()
    for name, reference in references.items():
        scale = 1e-3 if name in ZERO_BY_STRUCTURE else float(reference.abs().max())
        if not worst_difference(names.get(name), reference) <= TOLERANCE * scale:
            wrong.add(name)
    return wrong


def _local_result(source: str, right: str, gradient: str, sizes: Sizes) -> tuple[Any, bool]:
    """A gradient from its own statements and random upstreams; whether these stayed as they were.

    Which statements are its own is read from the right answer: a fault moves no statement.
    """
    values, _, upstreams = _instance(sizes)
    handed = {d: g.clone() for d, g in upstreams.items() if d != gradient}
    body = ast.parse(source).body
    own = [body[position] for position, owner in owners(right).items() if owner == gradient]
    code = compile(ast.Module(own, type_ignores=[]), "<answer>", "exec")
    try:
        names = _run(code, values | handed)
    except Exception:  # whatever a fault makes of an answer
        return None, True
    intact = all(torch.equal(handed[d], upstreams[d]) for d in handed)
    return names.get(gradient), intact


def _run(code: CodeType, values: Namespace) -> Namespace:
    names = dict(values)
    with double_precision():
        exec(code, names)
    return names
