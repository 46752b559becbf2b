"""Execution: a student's statements run one after the other on given values."""

from __future__ import annotations

import asyncio
import math
import signal
import time
import traceback
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, closing
from types import CodeType, FrameType, SimpleNamespace
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from grader.worker.engine import double_precision
from grader.worker.job import Group, Statement
from grader.worker.results import (
    LONGEST_MESSAGE,
    REFUSED,
    Problem,
    Result,
    can_be_sent,
)
from grader.worker.terms import Limits

NOTEBOOK_FUNCTIONS = ("cmp", "check", "board", "heat_map", "nudge", "display")
"""Functions of the notebook that an answer may call for what they show."""


def _show_nothing(*_: object, **__: object) -> None:
    """Stands in for the notebook's functions that only show something."""


GIVEN = {
    **{"math": math, "torch": torch, "F": F},
    **dict.fromkeys(NOTEBOOK_FUNCTIONS, _show_nothing),
}
"""What a notebook has beside its tensors."""

LEAST_SECONDS = 1e-3
"""What an alarm is set to when no time is left; 0 would be none."""

LONGEST_LOOK_SECONDS = 2.0
"""How long reading one value may take; it takes microseconds."""

LARGEST_VALUE = 2**23
"""Bytes one value may have; the largest right one, of a training, has some millions."""

LARGER_VALUE = 2**21
"""Bytes that one of more numbers than its tensor has may have: it is wrong, and many may be."""

REPORTED_DTYPES = frozenset(
    {torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.bool}
    | {torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8}
)
"""What a tensor's values are sent back as; of any other only the name is, for it is wrong."""


NOTHING = Result({}, {}, ())
"""Of a brief run that gives no gradient: there are many, and no value says all."""

WantedValues = tuple[dict[str, Tensor], dict[str, str]]
"""The values that can be sent back, and what the others are."""


class TimeLimit(BaseException):
    """Raised in the middle of a statement that runs too long; no `except Exception` stops it."""


class OutOfTime(BaseException):
    """The answer as a whole has no time left."""


class _Loop(asyncio.BaseEventLoop):
    """A loop for a top-level `await`: it waits for the clock alone, as a sandbox has no sockets."""

    def __init__(self) -> None:
        super().__init__()
        self._selector = SimpleNamespace(select=lambda seconds: time.sleep(seconds or 0))

    def _process_events(self, _: object) -> None:
        """There are none."""

    def _write_to_self(self) -> None:
        """Nothing has to wake a loop that has the only thread."""


class Executor:
    """Runs statements of one answer, each within its limits, and reads values that they leave."""

    given: Mapping[str, Any] = GIVEN
    precision: Callable[[], AbstractContextManager[None]] = staticmethod(double_precision)
    caught: tuple[type[BaseException], ...] = (BaseException,)
    """What a statement may raise: `SystemExit` and `KeyboardInterrupt` too are a student's."""

    def __init__(
        self, limits: Limits, known: Iterable[Problem], deadly: Mapping[int, str], until: float
    ) -> None:
        self.limits = limits
        self.deadly = deadly
        self.until = until
        self.slow = {
            problem.statement if problem.inner is None else problem.inner: problem
            for problem in known
        }

    def forecast(self, statement: Statement) -> Problem | None:
        """A problem that this statement had before and would have again."""
        if statement.number in self.deadly:
            how = self.deadly[statement.number]
            return Problem(statement.number, "Gone", how, statement.cell, statement.line)
        if not self.slow:
            return None
        return next((self.slow[n] for n, _, _ in statement.inside if n in self.slow), None)

    def set_alarm(self, seconds: float) -> None:
        """Have `TimeLimit` raised after so many seconds; 0 for never."""
        # Windows has no such timer: there the judge ends a worker that hangs.
        if hasattr(signal, "setitimer"):
            signal.setitimer(signal.ITIMER_REAL, seconds)

    def execute(
        self, statement: Statement, namespace: dict[str, Any], code: CodeType
    ) -> Problem | None:
        """Run a statement by its code, marked or not; what kept it from its end, if anything."""
        try:
            try:
                left = self.until - time.monotonic()
                self.set_alarm(max(min(self.limits.statement_seconds, left), LEAST_SECONDS))
                # With an `await` at its top level, as notebooks have it, it is a coroutine.
                if (waiting := eval(code, namespace)) is not None:
                    with closing(_Loop()) as loop:
                        loop.run_until_complete(waiting)
            finally:
                self.set_alarm(0)
        except self.caught as error:
            if time.monotonic() >= self.until:
                raise OutOfTime from None
            problem = _describe(statement, error)
            if isinstance(error, TimeLimit) and problem.inner is not None:
                self.slow[problem.inner] = problem
            return problem
        return None

    def read_values(self, namespace: Mapping[str, Any], want: Iterable[str]) -> WantedValues:
        """What stands under the wanted names, as it can be sent back."""
        tensors: dict[str, Tensor] = {}
        types: dict[str, str] = {}
        for name in [name for name in want if name in namespace]:
            value = namespace[name]
            if type(value) is Tensor and _is_plain(value):
                # As it is: the namespace is thrown away, and to copy it takes longer than all else.
                tensors[name] = value
                continue
            # Looking at a student's object may run the student's code, which may do anything.
            try:
                try:
                    self.set_alarm(LONGEST_LOOK_SECONDS)
                    plain = _plain(value) if isinstance(value, Tensor) else None
                    if plain is None:
                        types[name] = kind_of(value)[:LONGEST_MESSAGE]
                    else:
                        tensors[name] = plain
                finally:
                    self.set_alarm(0)
            except self.caught as error:
                types[name] = f"object that raises {type(error).__name__} when it is looked at"
        return tensors, types


def find_too_large(tensors: Mapping[str, Tensor], given: Group) -> list[str]:
    """The values that are too much larger than their tensors to be sent."""

    def fits(name: str, value: Tensor) -> bool:
        tensor = given.get(name[1:])
        # What belongs to no tensor, such as a training's record, may be as large as any value.
        is_larger = isinstance(tensor, Tensor) and value.numel() > tensor.numel()
        return not is_larger or value.nbytes <= LARGER_VALUE

    return [name for name, value in tensors.items() if not fits(name, value)]


def is_in_shape(name: str, value: Tensor, given: Group) -> bool:
    """False for what cannot be a gradient: it has another shape than its tensor."""
    tensor = given.get(name[1:])
    return not isinstance(tensor, Tensor) or value.shape == tensor.shape


def interrupt(_: int, __: FrameType | None) -> None:
    """The handler of an alarm."""
    raise TimeLimit


def _describe(statement: Statement, error: BaseException) -> Problem:
    lines = _lines_in_answer(error) or [(statement.cell, statement.line)]
    cell, line = lines[-1]
    message = _own_words(error)[:LONGEST_MESSAGE]
    # An assertion of PyTorch's own, or an `except`, may hide what the engine refused.
    if error.__context__ is not None and REFUSED in _own_words(error.__context__):
        message = REFUSED
    inner = statement.innermost(lines[0][1])
    return Problem(statement.number, type(error).__name__, message, cell, line, inner)


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


def kind_of(value: object) -> str:
    """What a value is that is not sent back: its type; of a tensor its dtype and shape."""
    if type(value) is not Tensor:
        return type(value).__name__
    return f"tensor of dtype {value.dtype} and shape {tuple(value.shape)}"


def _is_plain(value: Tensor) -> bool:
    """True for a tensor that is dense memory, of a sensible size and dtype, as nearly all are."""
    try:
        return (
            value.layout is torch.strided
            and not value.is_nested
            and value.device.type == "cpu"
            and value.dtype in REPORTED_DTYPES
            and value.is_contiguous()
            and not (value.is_conj() or value.is_neg() or value.requires_grad)
            and _fits(value)
        )
    # One that got out of `vmap`, for instance, has no memory of its own.
    except RuntimeError:
        return False


def _fits(value: Tensor) -> bool:
    """False for a shape, a size or a storage without memory that cannot be sent."""
    size, is_there = value.numel() * value.element_size(), value.untyped_storage().nbytes() > 0
    return can_be_sent(value.shape) and size <= LARGEST_VALUE and (is_there or size == 0)


def _plain(value: Tensor) -> Tensor | None:
    """A tensor as plain dense memory of its own; None if it cannot be had."""
    try:
        dense = torch.Tensor.to_dense(value) if value.layout is not torch.strided else value
        if dense.dtype not in REPORTED_DTYPES or not _fits(dense):
            return None
        plain = torch.empty(dense.shape, dtype=dense.dtype)
        copied = plain.copy_(dense)
        # What another class makes of `copy_` may be no copy.
        return plain if copied.data_ptr() == plain.data_ptr() else None
    # What a student's own tensor class raises is the student's; it is reported by its type.
    except Exception:
        return None
