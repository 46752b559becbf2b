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
    REPORTED_DTYPES,
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
"""The names that a notebook defines beside its tensors."""

LEAST_SECONDS = 1e-3
"""The alarm's setting when no time is left, because 0 would switch the alarm off."""

LONGEST_LOOK_SECONDS = 2.0
"""How long reading one value may take; it takes microseconds."""

LARGEST_VALUE = 2**23
"""The most bytes of one value; the largest right one, from a training, has a few millions."""

LARGER_VALUE = 2**21
"""The most bytes of a value that has more numbers than its tensor, and so is wrong anyway."""

NOTHING = Result({}, {}, ())
"""The result of a brief run without a gradient; there are many of these runs."""

WantedValues = tuple[dict[str, Tensor], dict[str, str]]
"""The values that can be sent back, and the types of the others."""


class TimeLimit(BaseException):
    """Interrupts a statement that runs too long; an `except Exception` cannot catch it."""


class OutOfTime(BaseException):
    """The answer as a whole has no time left."""


class _Loop(asyncio.BaseEventLoop):
    """An event loop for a top-level `await`; it only waits, because a sandbox has no sockets."""

    def __init__(self) -> None:
        super().__init__()
        self._selector = SimpleNamespace(select=lambda seconds: time.sleep(seconds or 0))

    def _process_events(self, _: object) -> None:
        """Do nothing, because there are no events."""

    def _write_to_self(self) -> None:
        """Do nothing, because no other thread could be waiting."""


class Executor:
    """Runs the statements of one answer within their limits, and reads the values they leave."""

    given: Mapping[str, Any] = GIVEN
    precision: Callable[[], AbstractContextManager[None]] = staticmethod(double_precision)
    caught: tuple[type[BaseException], ...] = (BaseException,)
    """What a statement may raise; `SystemExit` and `KeyboardInterrupt` may also be a student's."""

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
        """Return the problem that this statement had before, and would have again."""
        if statement.number in self.deadly:
            how = self.deadly[statement.number]
            return Problem(statement.number, "Gone", how, statement.cell, statement.line)
        if not self.slow:
            return None
        return next((self.slow[n] for n, _, _ in statement.inside if n in self.slow), None)

    def set_alarm(self, seconds: float) -> None:
        """Raise `TimeLimit` after this many seconds, or never if it is 0."""
        # Windows has no such timer: there the judge ends a worker that hangs.
        if hasattr(signal, "setitimer"):
            signal.setitimer(signal.ITIMER_REAL, seconds)

    def execute(
        self, statement: Statement, namespace: dict[str, Any], code: CodeType
    ) -> Problem | None:
        """Run a statement's code, marked or not; return what kept it from its end, if anything."""
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
        """Read the values of the wanted names, in a form that can be sent back."""
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
    """Name the values that are larger than their tensors by too much to be sent."""

    def fits(name: str, value: Tensor) -> bool:
        tensor = given.get(name[1:])
        # What belongs to no tensor, such as a training's record, may be as large as any value.
        is_larger = isinstance(tensor, Tensor) and value.numel() > tensor.numel()
        return not is_larger or value.nbytes <= LARGER_VALUE

    return [name for name, value in tensors.items() if not fits(name, value)]


def is_in_shape(name: str, value: Tensor, given: Group) -> bool:
    """Say whether a value can be a gradient, which has the shape of its tensor."""
    tensor = given.get(name[1:])
    return not isinstance(tensor, Tensor) or value.shape == tensor.shape


def interrupt(_: int, __: FrameType | None) -> None:
    """Handle an alarm."""
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
    """Return the first line of an exception's message, unless its own `__str__` fails."""
    try:
        words = str(error).strip()
    except BaseException as trouble:
        return f"its message cannot be shown ({type(trouble).__name__})"
    return words.splitlines()[0] if words else ""


def _lines_in_answer(error: BaseException) -> list[tuple[str, int]]:
    """List cell and line of each of the answer's own frames in a traceback, outermost first."""
    return [
        (frame.f_code.co_filename.removeprefix("<answer ").removesuffix(">"), line)
        for frame, line in traceback.walk_tb(error.__traceback__)
        if frame.f_code.co_filename.startswith("<answer ")
    ]


def kind_of(value: object) -> str:
    """Describe a value that is not sent back by its type or, for a tensor, its dtype and shape."""
    if type(value) is not Tensor:
        return type(value).__name__
    return f"tensor of dtype {value.dtype} and shape {tuple(value.shape)}"


def _is_plain(value: Tensor) -> bool:
    """Say whether a tensor is dense memory of a sensible size and dtype, as nearly all are."""
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
    """Say whether a tensor's shape, size and storage allow it to be sent."""
    size, is_there = value.numel() * value.element_size(), value.untyped_storage().nbytes() > 0
    return can_be_sent(value.shape) and size <= LARGEST_VALUE and (is_there or size == 0)


def _plain(value: Tensor) -> Tensor | None:
    """Copy a tensor into plain dense memory of its own, or return None if that is impossible."""
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
