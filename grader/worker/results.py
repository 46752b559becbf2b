"""The results of runs, and how they travel back to the judge."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import safetensors.numpy
import safetensors.torch
import torch
from torch import Tensor

REFUSED = "autograd is switched off while answers are checked"
"""The message for an answer that tries to use autograd."""

LONGEST_MESSAGE = 300
"""How many characters of an exception's message are reported."""

REPORTED_DTYPES = frozenset(
    {torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.bool}
    | {torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8}
)
"""Values of these dtypes are sent back; of any other, only its name is, because it is wrong."""

DTYPES = {str(dtype).removeprefix("torch."): dtype for dtype in REPORTED_DTYPES}
"""The dtypes by the names that travel with the values."""

MOST_DIMENSIONS = 16

MOST_NUMBERS = 2**23
"""The most numbers in one value; the largest right one, from a training, has a million."""

FEW_NUMBERS = 256
"""How many numbers distinguish a value from others, unless they differ in only a few places."""

MOST_NAMES = 10_000
"""The most names in a trace, over all statements; an answer has some hundreds."""


@dataclass(frozen=True, slots=True)
class Problem:
    """The reason why a top-level statement did not run to its end.

    `kind` is the type of an exception, or "TimeLimit", or "Gone" if the statement took its process
    with it. `line` is the innermost line of the answer that ran, perhaps in a function, and `inner`
    is the number of the top-level statement that called it.
    """

    statement: int
    kind: str
    message: str
    cell: str | None = None
    line: int | None = None
    inner: int | None = None


Made = Mapping[str, frozenset[str]]
"""Gradients, each with others that it depends on."""


@dataclass(frozen=True, slots=True, eq=False)
class Trace:
    """What a forced run shows about gradients, beside their values.

    `lent` names the upstreams that each gradient was made from, and `siblings` the gradients that
    it was made from in the answer's own version. `spoilt` names gradients that share memory with
    others, and are changed by the others' statements; `assigned` has their values without that
    change. `spoiling` has the statements that change them, each a number and a gradient, and
    `unshown` has writes that the answer's text does not show, in the same form.
    """

    lent: Made = field(default_factory=dict)
    siblings: Made = field(default_factory=dict)
    spoilt: Made = field(default_factory=dict)
    assigned: Mapping[str, Tensor] = field(default_factory=dict)
    spoiling: frozenset[tuple[int, str]] = frozenset()
    unshown: frozenset[tuple[int, str]] = frozenset()


@dataclass(frozen=True, slots=True, eq=False)
class Result:
    """The values of the wanted names after a run: tensors, or the types of other values.

    The result of a forced run has a `trace`.
    """

    tensors: Mapping[str, Tensor]
    types: Mapping[str, str]
    problems: Sequence[Problem]
    trace: Trace | None = None


def pack_results(results: Sequence[Result]) -> bytes:
    """Pack the results of some runs into one safetensors blob, for `unpack_results` to read.

    The blob has one row of bytes for each dtype, with all values one after the other. A request has
    some two hundred values of a few numbers each, so a tensor for each would cost more than its
    content.
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
    # As bytes in NumPy, because safetensors reads tensors with ctypes, which answers may not use.
    rows = {dtype: torch.cat(parts).view(torch.uint8).numpy() for dtype, parts in values.items()}
    return safetensors.numpy.save(rows, {"runs": json.dumps(runs)})


def fields_of(one: Any) -> tuple[Any, ...]:
    """Return a dataclass's fields; unlike `astuple`, this does not copy the values in them."""
    return tuple([getattr(one, name) for name in one.__slots__])


def unpack_results(blob: bytes | memoryview, most: int) -> list[Result]:
    """Invert `pack_results`, for a blob from a student's process, which may contain anything.

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
    rows = safetensors.torch.load(blob)
    flat = {dtype: row.view(DTYPES[dtype]) for dtype, row in rows.items()}
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
    """Take about `FEW_NUMBERS` numbers from all over a large value; a small one stays whole."""
    count = value.numel()
    if count <= FEW_NUMBERS:
        return value
    step = count // FEW_NUMBERS + 1
    # Else they could all stand in one column.
    while math.gcd(step, count) > 1:
        step += 1
    return value.reshape(-1)[::step].clone()


def can_be_sent(shape: Sequence[object]) -> bool:
    """Say whether a value of this shape may travel back.

    An axis of length 0 counts as 1, because otherwise it would hide how long the others are, and
    the judge may sum along those.
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
