"""Execution: a student's statements run one after the other on given values."""

from __future__ import annotations

import itertools
import math
import signal
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from operator import attrgetter
from types import CodeType, FrameType, MappingProxyType
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from grader.worker import job
from grader.worker.engine import double_precision
from grader.worker.recording import Names, Recorder, is_all_zero
from grader.worker.request import Group, Request, RunOrder, Statement
from grader.worker.results import (
    DTYPE_CODES,
    LONGEST_MESSAGE,
    REFUSED,
    Problem,
    Result,
    can_be_sent,
    some_of,
)
from grader.worker.terms import DYNAMIC_NAMES, Limits
from grader.worker.threads import forget_threads, run_to_end

NOTEBOOK_FUNCTIONS = ("cmp", "check", "board", "heat_map", "nudge", "display")
"""Functions of the notebook that an answer may call for what they show."""


def _show_nothing(*_: object, **__: object) -> None:
    """Stands in for the notebook's functions that only show something."""


GIVEN = {
    **{"math": math, "torch": torch, "F": F},
    **dict.fromkeys(NOTEBOOK_FUNCTIONS, _show_nothing),
}
"""What a notebook has beside its tensors."""

LONGEST_LOOK_SECONDS = 2.0
"""How long reading one value may take; it takes microseconds."""

LARGEST_VALUE = 2**23
"""Bytes one value may have; the largest right one, of a training, has some millions."""

LARGER_VALUES = 10 * 2**20
"""Bytes that values of more numbers than their tensors have may take in all: they are wrong."""

REPORTED_DTYPES = frozenset(getattr(torch, name) for name in DTYPE_CODES)
"""What a tensor's values are sent back as; of any other only the name is, for it is wrong."""


NOTHING = Result({}, {}, ())
"""Of a brief run that gives no gradient: there are many, and no value says all."""

WantedValues = tuple[dict[str, Tensor], dict[str, str]]
"""The values that can be sent back, and what the others are."""


class TimeLimit(BaseException):
    """Raised in the middle of a statement that runs too long; no `except Exception` stops it."""


def run_request(
    request: Request,
    groups: Mapping[str, Group],
    deadly: Mapping[int, str] = MappingProxyType({}),
    started: Callable[[int], None] = lambda _: None,
    done: int = 0,
    sent: int = 0,
) -> Iterator[Result]:
    """Make the runs of a request, in order, and yield the result of each.

    Args:
        request: statements and runs.
        groups: the values the runs name.
        deadly: numbers of statements not to be run again, with what came of them.
        started: told the number of each statement before it runs.
        done: how many runs have a result already, the first ones.
        sent: bytes that these results took.
    """
    if hasattr(signal, "setitimer"):
        # An answer that listens itself is ended a little later, by a kill.
        signal.signal(signal.SIGALRM, interrupt)
    runner = RequestRunner(request, {**groups, **request.extra}, deadly, LARGER_VALUES - sent)
    yield from runner.run_all(started, done)


class Executor:
    """Runs statements of one answer, each within its limits, and reads values that they leave."""

    given: Mapping[str, Any] = GIVEN
    precision: Callable[[], AbstractContextManager[None]] = staticmethod(double_precision)
    caught: tuple[type[BaseException], ...] = (BaseException,)
    """What a statement may raise: `SystemExit` and `KeyboardInterrupt` too are a student's."""

    def __init__(
        self, limits: Limits, known: Iterable[Problem], deadly: Mapping[int, str], left: int
    ) -> None:
        self.limits = limits
        self.deadly = deadly
        self.left = left
        self.slow = {
            problem.statement if problem.inner is None else problem.inner: problem
            for problem in known
        }

    def without_room(self, tensors: Mapping[str, Tensor], given: Group) -> list[str]:
        """The values that are larger than their tensors, and for which there is no room left.

        Many of them, and what the answer may send would not do for the right ones.
        """
        without = []
        for name, value in tensors.items():
            tensor = given.get(name[1:])
            if isinstance(tensor, Tensor) and value.numel() <= tensor.numel():
                continue
            if value.nbytes > self.left:
                without.append(name)
            else:
                self.left -= value.nbytes
        return without

    def forecast(self, statement: Statement | job.Statement) -> Problem | None:
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
        self,
        statement: Statement | job.Statement,
        namespace: dict[str, Any],
        brief: bool = False,
        code: CodeType | None = None,
    ) -> Problem | None:
        """Run a statement, or other code in its place; what kept it from its end, if anything."""
        try:
            try:
                self.set_alarm(self.limits.statement_seconds)
                # With an `await` at its top level, as notebooks have it, it is a coroutine.
                if (waiting := eval(code or statement.code, namespace)) is not None:
                    run_to_end(waiting)
            finally:
                self.set_alarm(0)
        except self.caught as error:
            # To find its words and its line takes as long as to raise it.
            if brief and not isinstance(error, TimeLimit):
                return Problem(statement.number, type(error).__name__, "")
            problem = _describe(statement, error)
            if isinstance(error, TimeLimit) and problem.inner is not None:
                self.slow[problem.inner] = problem
            return problem
        return None

    def read_values(self, namespace: Mapping[str, Any], want: Iterable[str]) -> WantedValues:
        """What stands under the wanted names, as it can be sent back."""
        tensors: dict[str, Tensor] = {}
        types: dict[str, str] = {}
        for name in want:
            if name not in namespace:
                continue
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


class RequestRunner(Executor):
    """Runs chosen statements of one answer, again and again, each time in a new namespace."""

    def __init__(
        self, request: Request, groups: Mapping[str, Group], deadly: Mapping[int, str], left: int
    ) -> None:
        super().__init__(request.limits, request.known, deadly, left)
        self.request = request
        self.groups = groups
        self.recorded: tuple[RunOrder, WantedValues] | None = None
        self.futile = set[tuple[int, ...]]()
        self.names = [_names_in(statement.code) for statement in request.statements]

    def run_all(self, started: Callable[[int], None], done: int = 0) -> Iterator[Result]:
        """Make all runs but the first so many, and yield the result of each."""
        for double, orders in itertools.groupby(self.request.runs[done:], attrgetter("double")):
            with self.precision() if double else nullcontext():
                for order in orders:
                    yield self.run(order, started)

    def run(self, order: RunOrder, started: Callable[[int], None]) -> Result:
        """One run's values and problems."""
        if order.brief and order.statements in self.futile:
            return NOTHING
        if self.recorded is not None and self._is_same(order, self.recorded[0]):
            problems, (tensors, types) = list[Problem](), self.recorded[1]
        else:
            forget_threads()
            # Not torch.manual_seed: that seeds all kinds of devices, with a formatted stack each.
            torch.default_generator.manual_seed(0)
            torch.set_default_dtype(torch.float64 if order.double else torch.float32)
            if order.recorded:
                return self._record(order, started)
            problems, (tensors, types) = self._run(order, started)
        given = self.groups[order.groups[0]]
        if order.brief and not any(is_in_shape(*one, given) for one in tensors.items()):
            self.futile.add(order.statements)
            return NOTHING
        if order.some:
            tensors = {name: some_of(value) for name, value in tensors.items()}
        for name in self.without_room(tensors, given):
            types[name] = kind_of(tensors.pop(name))
        return Result(tensors, types, tuple(problems))

    def _run(
        self, order: RunOrder, started: Callable[[int], None]
    ) -> tuple[list[Problem], WantedValues]:
        namespace = self.namespace(order)
        fixed = {name: namespace[name].clone() for name in order.fixed}
        problems = []
        for index in order.statements:
            statement = self.request.statements[index]
            problem = self.forecast(statement)
            if problem is None:
                started(statement.number)
                problem = self.execute(statement, namespace, order.brief)
                if fixed:
                    namespace.update((name, value.clone()) for name, value in fixed.items())
            if problem is not None:
                problems.append(problem)
                if order.brief:
                    return problems, ({}, {})
        return problems, self.read_values(namespace, order.want)

    def _record(self, order: RunOrder, started: Callable[[int], None]) -> Result:
        """A run for what its statements do to names.

        Where one fails, it runs again with all upstreams given: a missing name would hide what is
        done with it. All of them run once more, with good upstreams before each, where that does
        not do: for what an object holds of a bad one, and for zeros, which do not show it either.
        Where none fails, the values are kept for the run that is not recorded.
        """
        plain, given = replace(order, groups=order.groups[:1]), self.groups[order.groups[-1]]
        slow = {**self.slow}
        recorder, is_clean, still_fails = self._follow(plain, started, given)
        names = recorder.names
        if is_clean:
            self.recorded = plain, self.read_values(names, order.want)
        if still_fails or any(is_all_zero(dict.get(names, name)) for name in order.want):
            forget_threads()
            again, *_ = self._follow(plain, started, given, always=True)
            recorder.add(again.seen)
        # What takes too long while somebody looks may be quick without.
        self.slow = slow
        return Result({}, {}, (), recorder.seen)

    def _follow(
        self,
        order: RunOrder,
        started: Callable[[int], None],
        given: Group,
        always: bool = False,
    ) -> tuple[Recorder, bool, bool]:
        """What was seen in a run; whether every statement ran; whether one still failed.

        What is `given` is put back where one fails, before it runs again; or before each, `always`.
        One still fails if it does so again although something was put back.
        """
        values = self.namespace(order)
        names = Names({name: _own(value) for name, value in values.items()} if always else values)
        recorder, is_clean, still_fails = Recorder(names), True, False
        for index in order.statements:
            statement = self.request.statements[index]
            if self.forecast(statement) is not None:
                is_clean = False
                continue
            if always:
                recorder.at(-1)
                recorder.give(given)
            started(statement.number)
            recorder.at(statement.number, statement.plain)
            if self.execute(statement, names) is not None and not always:
                is_clean = False
                recorder.at(-1)
                put_back = recorder.give(given)
                recorder.at(statement.number, statement.plain)
                still_fails |= self.execute(statement, names) is not None and put_back
        recorder.at(-1)
        return recorder, is_clean, still_fails

    def _is_same(self, order: RunOrder, recorded: RunOrder) -> bool:
        """True for the run that was recorded: the same statements on the same values."""
        if (order.groups, order.want) != (recorded.groups, recorded.want):
            return False
        statements = self.request.statements
        one, other = (
            [statements[index].number for index in some.statements] for some in (order, recorded)
        )
        return one == other

    def namespace(self, order: RunOrder) -> dict[str, Any]:
        """What an answer finds: the notebook's names, with tensors that no other run shares.

        What its statements do not mention is left out, and where all are plain nothing is copied:
        that takes longer than most statements.
        """
        mentioned = {*order.fixed}.union(*(self.names[index] for index in order.statements))
        everything = not mentioned.isdisjoint(DYNAMIC_NAMES)
        is_plain = all(self.request.statements[index].plain for index in order.statements)
        values: dict[str, Any] = {"__name__": "__main__", **self.given}
        for group in map(self.groups.__getitem__, order.groups):
            names = group if everything else [name for name in mentioned if name in group]
            found = {name: group[name] for name in names if name not in order.want}
            values |= found if is_plain else {name: _own(one) for name, one in found.items()}
        return values


def is_in_shape(name: str, value: Tensor, given: Group) -> bool:
    """False for what cannot be a gradient: it has another shape than its tensor."""
    tensor = given.get(name[1:])
    return not isinstance(tensor, Tensor) or value.shape == tensor.shape


def _own(value: Tensor | float) -> Tensor | float:
    return value.clone() if isinstance(value, Tensor) else value


def _names_in(code: CodeType) -> frozenset[str]:
    """The names that code mentions, in the functions it defines too."""
    inner = (_names_in(constant) for constant in code.co_consts if isinstance(constant, CodeType))
    return frozenset(code.co_names).union(*inner)


def interrupt(_: int, __: FrameType | None) -> None:
    """The handler of an alarm."""
    raise TimeLimit


def _describe(statement: Statement | job.Statement, error: BaseException) -> Problem:
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
