"""Execution: a student's statements run one after the other on given values."""

from __future__ import annotations

import ast
import json
import math
import signal
import traceback
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass
from functools import partial
from types import CodeType, FrameType
from typing import Any

import safetensors.torch
import torch
import torch.nn.functional as F
from torch import Tensor

from grader.effects import DYNAMIC_NAMES
from grader.engine import double_precision, engine_switched_off
from grader.statements import pruned, walk_statements

NOTEBOOK_FUNCTIONS = ("cmp", "check", "board", "heat_map", "hint", "display")
"""Functions of the notebook that an answer may call for what they show."""

LONGEST_MESSAGE = 300
"""Characters of an exception's own words that are reported."""

LONGEST_LOOK_SECONDS = 2.0
"""How long reading one value may take; it takes microseconds."""

LARGEST_VALUE = 2**24
"""Bytes one gradient may have; the largest right one has a few thousand."""

REPORTED_DTYPES = frozenset(
    {torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.bool}
    | {torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8}
)
"""What a tensor's values are sent back as; of any other only the name is, for it is wrong."""


@dataclass(frozen=True, slots=True)
class RunOrder:
    """One run: which statements on which values, and the gradients wanted from it.

    `groups` name sets of tensors of the request, later ones over earlier ones; `keep` are the
    numbers of the statements to run. What is wanted is not given; what is `fixed` has its given
    value again after every statement, whatever the statement assigned to it.
    """

    groups: tuple[str, ...]
    keep: frozenset[int]
    want: tuple[str, ...]
    fixed: tuple[str, ...]
    double: bool
    constants: Mapping[str, float]


@dataclass(frozen=True, slots=True, eq=False)
class Request:
    """An answer's code, values to run it on, and the runs to make.

    `cells` are pairs of an answer cell's id and its code; `groups` are tensors by group and name.
    """

    cells: tuple[tuple[str, str], ...]
    groups: Mapping[str, Mapping[str, Tensor]]
    runs: tuple[RunOrder, ...]
    statement_seconds: float
    total_seconds: float
    memory_bytes: int

    def pack(self) -> bytes:
        """The request as one safetensors blob."""
        tensors = {
            f"{group}/{name}": value.contiguous()
            for group, values in self.groups.items()
            for name, value in values.items()
        }
        order = {
            "cells": self.cells,
            "runs": [
                [
                    *(run.groups, sorted(run.keep), run.want, run.fixed),
                    *(run.double, dict(run.constants)),
                ]
                for run in self.runs
            ],
            "limits": [self.statement_seconds, self.total_seconds, self.memory_bytes],
        }
        # safetensors refuses tensors that share memory, such as a view beside its base.
        separate = {name: value.clone() for name, value in tensors.items()}
        return safetensors.torch.save(separate, {"order": json.dumps(order)})

    @classmethod
    def unpack(cls, payload: bytes) -> Request:
        """The inverse of `pack`."""
        order = read_metadata(payload)["order"]
        groups: dict[str, dict[str, Tensor]] = {}
        for key, value in safetensors.torch.load(payload).items():
            group, name = key.split("/")
            groups.setdefault(group, {})[name] = value
        return cls(
            tuple((cell, source) for cell, source in order["cells"]),
            groups,
            tuple(
                RunOrder(tuple(names), frozenset(keep), tuple(want), tuple(fixed), *rest)
                for names, keep, want, fixed, *rest in order["runs"]
            ),
            *order["limits"],
        )


def read_metadata(payload: bytes) -> dict[str, Any]:
    """The JSON metadata of a safetensors blob, which its own reader for bytes leaves out."""
    length = int.from_bytes(payload[:8], "little")
    header = json.loads(payload[8 : 8 + length])
    return {key: json.loads(text) for key, text in header.get("__metadata__", {}).items()}


class TimeLimit(BaseException):
    """Raised in the middle of a statement that runs too long; no `except Exception` stops it."""


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


@dataclass(frozen=True, slots=True, eq=False)
class _Top:
    """A top-level statement of the answer with the numbers of everything inside it."""

    number: int
    cell: str
    statement: ast.stmt
    inside: Mapping[ast.stmt, int]
    names: frozenset[str]

    @property
    def filename(self) -> str:
        return f"<answer {self.cell}>"

    def innermost(self, line: int) -> int:
        """The number of the innermost statement that stands on a line."""
        on_line = [s for s in self.inside if s.lineno <= line <= (s.end_lineno or s.lineno)]
        return self.inside[on_line[-1]] if on_line else self.number


class _Runner:
    """Runs chosen statements of one answer, again and again, each time in a new namespace."""

    def __init__(self, request: Request, deadly: Mapping[int, str]) -> None:
        self.request = request
        self.deadly = deadly
        self.tops = list(_parse(request.cells))
        self.slow: dict[int, Problem] = {}
        self.compiled: dict[tuple[int, frozenset[int]], CodeType] = {}

    def run(self, order: RunOrder, started: Callable[[int], None]) -> bytes:
        """One run's values and problems as a safetensors blob."""
        namespace = _namespace(self.request, order, self._mentioned(order.keep))
        # Not torch.manual_seed: that seeds every kind of device, with a formatted stack for each.
        torch.default_generator.manual_seed(0)
        fixed = {name: namespace[name].clone() for name in order.fixed}
        problems = []
        with double_precision() if order.double else nullcontext():
            for top in self.tops:
                kept = order.keep.intersection(top.inside.values())
                if top.number in kept:
                    problem = self._forecast(top, kept)
                    if problem is None:
                        started(top.number)
                        problem = self._execute(top, kept, namespace)
                        namespace.update((name, value.clone()) for name, value in fixed.items())
                    if problem is not None:
                        problems.append(problem)
        return _pack_result(namespace, order.want, problems)

    def _mentioned(self, keep: frozenset[int]) -> frozenset[str] | None:
        """The names that the kept statements mention; None if they may reach others too."""
        names: set[str] = set()
        for top in self.tops:
            if not keep.isdisjoint(top.inside.values()):
                names |= top.names
        return frozenset(names) if names.isdisjoint(DYNAMIC_NAMES) else None

    def _forecast(self, top: _Top, kept: frozenset[int]) -> Problem | None:
        """A problem that this statement had before and would have again."""
        if top.number in self.deadly:
            line = top.statement.lineno
            return Problem(top.number, "Gone", self.deadly[top.number], top.cell, line)
        return next((self.slow[number] for number in kept if number in self.slow), None)

    def _execute(
        self, top: _Top, kept: frozenset[int], namespace: dict[str, Any]
    ) -> Problem | None:
        try:
            code = self._compile(top, kept)
            with _time_limit(self.request.statement_seconds):
                exec(code, namespace)
        # Everything, `SystemExit` and `KeyboardInterrupt` too: it is the student's, and data.
        except BaseException as error:
            problem = _describe(top, error)
            if isinstance(error, TimeLimit) and problem.inner is not None:
                self.slow[problem.inner] = problem
            return problem
        return None

    def _compile(self, top: _Top, kept: frozenset[int]) -> CodeType:
        key = top.number, kept
        if key not in self.compiled:
            chosen = {statement for statement, number in top.inside.items() if number in kept}
            module = ast.Module([pruned(top.statement, chosen)], [])
            self.compiled[key] = compile(module, top.filename, "exec")
        return self.compiled[key]


def run_request(
    request: Request,
    deadly: Mapping[int, str],
    started: Callable[[int, int], None],
    finished: Callable[[int, bytes], None],
    skip: Collection[int] = (),
) -> None:
    """Make every run of a request that is not in `skip`.

    Args:
        request: code, values, runs.
        deadly: top-level statements not to be run again, with what came of them.
        started: told the run and the statement before each statement.
        finished: told the run and its result, a safetensors blob.
        skip: runs that have a result already.
    """
    with engine_switched_off():
        runner = _Runner(request, deadly)
        for number, order in enumerate(request.runs):
            if number not in skip:
                finished(number, runner.run(order, partial(started, number)))


def _parse(cells: Sequence[tuple[str, str]]) -> Iterator[_Top]:
    number = 0
    for cell, source in cells:
        for statement in ast.parse(source).body:
            inside = {
                inner: number + offset for offset, inner in enumerate(walk_statements([statement]))
            }
            names = frozenset(n.id for n in ast.walk(statement) if isinstance(n, ast.Name))
            yield _Top(number, cell, statement, inside, names)
            number += len(inside)


def _namespace(
    request: Request, order: RunOrder, mentioned: frozenset[str] | None
) -> dict[str, Any]:
    """What an answer finds: the notebook's names, with tensors that no other run shares.

    Tensors that its statements do not mention are left out: copying them takes longer than most
    statements.
    """
    values: dict[str, Any] = {"__name__": "__main__", "math": math, "torch": torch, "F": F}
    values |= dict.fromkeys(NOTEBOOK_FUNCTIONS, _show_nothing)
    values |= order.constants
    for group in order.groups:
        values |= {
            name: value.clone()
            for name, value in request.groups[group].items()
            if name not in order.want and (mentioned is None or name in mentioned)
        }
    return values


def _show_nothing(*_: object, **__: object) -> None:
    """Stands in for the notebook's functions that only show something."""


@contextmanager
def _time_limit(seconds: float) -> Iterator[None]:
    """Raise `TimeLimit` in the statements inside when their time is over."""
    if not hasattr(signal, "setitimer"):
        # Windows: the judge ends a worker that hangs.
        yield
        return

    def interrupt(_: int, __: FrameType | None) -> None:
        raise TimeLimit

    signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def _describe(top: _Top, error: BaseException) -> Problem:
    lines = _lines_in_answer(error) or [(top.cell, top.statement.lineno)]
    cell, line = lines[-1]
    message = _own_words(error)[:LONGEST_MESSAGE]
    inner = top.innermost(lines[0][1])
    return Problem(top.number, type(error).__name__, message, cell, line, inner)


def _own_words(error: BaseException) -> str:
    """The first line of an exception's message, if its own `__str__` lets us have it."""
    try:
        words = str(error).strip()
    except BaseException as trouble:
        return f"its message cannot be shown ({type(trouble).__name__})"
    return words.splitlines()[0] if words else ""


def _lines_in_answer(error: BaseException) -> list[tuple[str, int]]:
    """Cell and line of each of the answer's own frames in a traceback, outermost first."""
    return [
        (frame.f_code.co_filename.removeprefix("<answer ").removesuffix(">"), line)
        for frame, line in traceback.walk_tb(error.__traceback__)
        if frame.f_code.co_filename.startswith("<answer ")
    ]


def _pack_result(
    namespace: Mapping[str, Any], want: Sequence[str], problems: Sequence[Problem]
) -> bytes:
    tensors: dict[str, Tensor] = {}
    types: dict[str, str] = {}
    for name in want:
        if name not in namespace:
            continue
        value = namespace[name]
        # Looking at a student's object may run the student's code, which may do anything.
        try:
            with _time_limit(LONGEST_LOOK_SECONDS):
                plain = _plain(value) if isinstance(value, Tensor) else None
                if plain is None:
                    types[name] = _kind(value)[:LONGEST_MESSAGE]
                else:
                    tensors[name] = plain
        except BaseException as error:
            types[name] = f"object that raises {type(error).__name__} when it is looked at"
    metadata = {"types": types, "problems": [asdict(problem) for problem in problems]}
    return safetensors.torch.save(
        tensors, {key: json.dumps(value) for key, value in metadata.items()}
    )


def _kind(value: object) -> str:
    """What a value is that is not sent back: its type; of a tensor its dtype and shape."""
    if type(value) is not Tensor:
        return type(value).__name__
    return f"tensor of dtype {value.dtype} and shape {tuple(value.shape)}"


def _plain(value: Tensor) -> Tensor | None:
    """A tensor as plain dense memory of its own; None if it cannot be had."""
    try:
        dense = torch.Tensor.to_dense(value) if value.layout is not torch.strided else value
        if dense.numel() * dense.element_size() > LARGEST_VALUE:
            return None
        if dense.dtype not in REPORTED_DTYPES:
            return None
        plain = torch.empty(dense.shape, dtype=dense.dtype)
        return plain.copy_(dense)
    # What a student's own tensor class raises is the student's; it is reported by its type.
    except Exception:
        return None
