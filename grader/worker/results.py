"""What a run leaves behind, and how it travels back to the judge."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import safetensors.torch
import torch
from torch import Tensor

REFUSED = "autograd is switched off while answers are checked"
"""What an answer reads that reaches for autograd."""

LONGEST_MESSAGE = 300
"""Characters of an exception's own words that are reported."""

MOST_DIMENSIONS = 16

MOST_NUMBERS = 2**23
"""In one value; the largest right one, of a training, has some millions of bytes."""

FEW_NUMBERS = 256
"""How many numbers tell a value from others, unless these differ in a few places only."""

MOST_NAMES = 10_000
"""Names in what was seen of a run, all its statements together; an answer has some hundreds."""


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a top-level statement did not run to its end, as it is reported.

    `kind` is an exception's type, or "TimeLimit", or "Gone" where it took its process with it.
    `line` is the innermost line of the answer that ran, perhaps in a function; `inner` the number
    of the statement at top level that called it.
    """

    statement: int
    kind: str
    message: str
    cell: str | None = None
    line: int | None = None
    inner: int | None = None


Made = Mapping[str, frozenset[str]]
"""Gradients, each with others that have to do with it."""


@dataclass(frozen=True, slots=True, eq=False)
class Trace:
    """What a forced run shows of gradients beside their values.

    `lent` are the upstreams that each was made from, `siblings` the gradients that it was made from
    as the answer has them. `spoilt` are those that another one's statements change, because they
    share its memory, with these others; `assigned` are their values without that, `spoiling`
    the statements that do it: number and gradient. So are `unshown`: writes that the answer's text
    does not show.
    """

    lent: Made = field(default_factory=dict)
    siblings: Made = field(default_factory=dict)
    spoilt: Made = field(default_factory=dict)
    assigned: Mapping[str, Tensor] = field(default_factory=dict)
    spoiling: frozenset[tuple[int, str]] = frozenset()
    unshown: frozenset[tuple[int, str]] = frozenset()


@dataclass(frozen=True, slots=True, eq=False)
class Result:
    """What stood under the wanted names after a run: tensors, or the types of what is none.

    A forced run has a `trace`.
    """

    tensors: Mapping[str, Tensor]
    types: Mapping[str, str]
    problems: Sequence[Problem]
    trace: Trace | None = None


def pack_results(results: Sequence[Result]) -> bytes:
    """The results of some runs as one safetensors blob, which `unpack_results` reads.

    The blob's tensors are all values of a dtype one after the other: a request has some two hundred
    values of a few numbers each, and a tensor costs more than what is in it.
    """
    values: dict[str, list[Tensor]] = {}

    def put(tensors: Mapping[str, Tensor]) -> list[tuple[str, str, tuple[int, ...]]]:
        shapes = []
        for name, tensor in tensors.items():
            dtype = str(tensor.dtype).removeprefix("torch.")
            values.setdefault(dtype, []).append(tensor.reshape(-1))
            shapes.append((name, dtype, tuple(tensor.shape)))
        return shapes

    runs = []
    for result in results:
        problems = [fields_of(problem) for problem in result.problems]
        run: dict[str, object] = {"values": put(result.tensors), "problems": problems}
        run["types"] = dict(result.types)
        if (trace := result.trace) is not None:
            made = [
                [(name, [*others]) for name, others in one.items()]
                for one in (trace.lent, trace.siblings, trace.spoilt)
            ]
            run["assigned"] = put(trace.assigned)
            run["trace"] = *made, [*trace.spoiling], [*trace.unshown]
        runs.append(run)
    rows = {dtype: torch.cat(parts) for dtype, parts in values.items()}
    return safetensors.torch.save(rows, {"runs": json.dumps(runs)})


def fields_of(one: Any) -> tuple[Any, ...]:
    """A dataclass's fields. Not by `astuple`, which copies what is in them: that takes long."""
    return tuple([getattr(one, name) for name in one.__slots__])


def unpack_results(blob: bytes | memoryview, most: int) -> list[Result]:
    """The inverse of `pack_results`, for a blob from a student's process: anything may be in it.

    Raises:
        ValueError: it is not a blob of at most so many results.
    """
    try:
        return _unpack(bytes(blob), most)
    # There is no end to the ways in which a blob can be broken.
    except Exception as error:
        raise ValueError(f"not the results of {most} runs: {type(error).__name__}") from error


def _unpack(blob: bytes, most: int) -> list[Result]:
    # safetensors' own reader for bytes leaves the metadata out.
    length = int.from_bytes(blob[:8], "little")
    runs = json.loads(json.loads(blob[8 : 8 + length])["__metadata__"]["runs"])
    if not isinstance(runs, list) or len(runs) > most:
        raise ValueError("more runs than were asked for")
    flat = safetensors.torch.load(blob)
    taken = dict.fromkeys(flat, 0)

    def take(shapes: Sequence[Any]) -> dict[str, Tensor]:
        tensors = {}
        for name, dtype, shape in shapes:
            start, size = taken[dtype], _numel(shape)
            tensors[str(name)] = flat[dtype].narrow(0, start, size).view(shape)
            taken[dtype] = start + size
        return tensors

    return [
        Result(
            take(run["values"]),
            {str(name): str(kind)[:LONGEST_MESSAGE] for name, kind in run["types"].items()},
            tuple(map(_problem, run["problems"])),
            _trace(take(run["assigned"]), *run["trace"]) if "trace" in run else None,
        )
        for run in runs
    ]


def _trace(assigned: Mapping[str, Tensor], *seen: Sequence[Any]) -> Trace:
    *made, spoiling, unshown = seen
    told = sum(len(others) for one in made for _, others in one) + len(spoiling) + len(unshown)
    if len(made) != 3 or told > MOST_NAMES:
        raise ValueError("not what a forced run shows")
    lent, siblings, spoilt = (
        {str(name): frozenset(map(str, others)) for name, others in one} for one in made
    )
    writes = (
        frozenset((int(number), str(name)) for number, name in pairs)
        for pairs in (spoiling, unshown)
    )
    return Trace(lent, siblings, spoilt, assigned, *writes)


def some_of(value: Tensor) -> Tensor:
    """Numbers from all over a large value, about `FEW_NUMBERS` in a row; a small one as it is."""
    count = value.numel()
    if count <= FEW_NUMBERS:
        return value
    step = count // FEW_NUMBERS + 1
    # Else they could all stand in one column.
    while math.gcd(step, count) > 1:
        step += 1
    return value.reshape(-1)[::step].clone()


def can_be_sent(shape: Sequence[object]) -> bool:
    """True for the shape of a value that travels back.

    An axis of length 0 hides how long the others are, along which the judge may sum.
    """
    if len(shape) > MOST_DIMENSIONS or not all(type(s) is int and s >= 0 for s in shape):
        return False
    return math.prod(max(s, 1) for s in shape if isinstance(s, int)) <= MOST_NUMBERS


def _numel(shape: object) -> int:
    if not isinstance(shape, list) or not can_be_sent(shape):
        raise ValueError("not a shape")
    return math.prod(shape)


def _problem(item: object) -> Problem:
    match item:
        case [
            int(statement),
            str(kind),
            str(message),
            str() | None as cell,
            int() | None as line,
            int() | None as inner,
        ]:
            kind, message = kind[:LONGEST_MESSAGE], message[:LONGEST_MESSAGE]
            return Problem(statement, kind, message, cell, line, inner)
    raise ValueError("not a problem")
