"""Running a job: the lecture's run, the plain runs, the forced runs, one after the other."""

from __future__ import annotations

import itertools
import math
import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import nullcontext, suppress
from operator import attrgetter
from types import MappingProxyType
from typing import Any

import torch
from torch import Tensor

from grader.worker.execution import (
    NOTHING,
    Executor,
    OutOfTime,
    find_too_large,
    interrupt,
    is_in_shape,
    kind_of,
)
from grader.worker.forced import MOST_TURNS, ForcedRun, Names, find_lends
from grader.worker.job import Group, Job, JobRun, Line, Statement
from grader.worker.results import Problem, Result, some_of

SLOW_SECONDS = 1.0
"""A statement that takes longer and contributes to no gradient is not run again."""


def run_job(
    job: Job,
    groups: Mapping[str, Group],
    deadly: Mapping[int, str] = MappingProxyType({}),
    started: Callable[[int], None] = lambda _: None,
    until: float = math.inf,
) -> Iterator[Result]:
    """Make the runs of a job, in order, and yield the result of each.

    Args:
        job: statements and runs.
        groups: the values that the runs name.
        deadly: numbers of statements not to be run again, with what came of them.
        started: called with the number of each statement before it runs.
        until: the time after which nothing more is run.
    """
    if hasattr(signal, "setitimer"):
        # An answer that listens itself is ended a little later, by a kill.
        signal.signal(signal.SIGALRM, interrupt)
    runner = JobRunner(job, {**groups, **job.extra}, deadly, until)
    with suppress(OutOfTime):
        yield from runner.run_all(started)


class JobRunner(Executor):
    """Makes the runs of a job, each in a new namespace."""

    def __init__(
        self, job: Job, groups: Mapping[str, Group], deadly: Mapping[int, str], until: float
    ) -> None:
        super().__init__(job.limits, job.known, deadly, until)
        self.job, self.groups = job, groups
        self.gradients = frozenset(job.above)
        lines = (line for statement in job.statements for line in statement.lines)
        self.writes = {line.number: line.writes for line in lines}
        self.unshown = set[tuple[int, str]]()
        self.looked_into = set[int]()
        self.skipped = set[int]()
        self.futile = set[tuple[int, ...]]()

    def run_all(self, started: Callable[[int], None]) -> Iterator[Result]:
        """Make all runs, and yield the result of each."""
        for double, runs in itertools.groupby(self.job.runs, attrgetter("double")):
            with self.precision() if double else nullcontext():
                for run in runs:
                    yield self.run(run, started)

    def run(self, run: JobRun, started: Callable[[int], None]) -> Result:
        """Make one run and return its values and problems."""
        if run.brief and run.statements in self.futile:
            return NOTHING
        forced = self._forced(run, started) if run.upstreams else None
        if forced is not None:
            problems, left = forced.problems, forced.values
        else:
            left = self.namespace(run)
            problems = self._plain(run, left, started)
        # The values of half a run are not a gradient, and an edit that raises is none either.
        tensors, types = ({}, {}) if run.brief and problems else self.read_values(left, run.want)
        given = self.groups[run.groups[0]]
        if run.brief and not any(is_in_shape(*one, given) for one in tensors.items()):
            self.futile.add(run.statements)
            return NOTHING
        if run.some:
            tensors = {name: some_of(value) for name, value in tensors.items()}
        for name in find_too_large(tensors, given):
            types[name] = kind_of(tensors.pop(name))
        if forced is None or run.brief:
            return Result(tensors, types, tuple(problems))
        assigned, _ = self.read_values(forced.assigned, run.want)
        for name in find_too_large(assigned, given):
            del assigned[name]
        return Result(tensors, types, tuple(problems), trace=forced.trace(assigned))

    def _plain(
        self, run: JobRun, names: dict[str, Any], started: Callable[[int], None]
    ) -> list[Problem]:
        self._begin(run)
        problems = []
        for statement in map(self.job.statements.__getitem__, run.statements):
            if (problem := self._execute(statement, names, started)) is not None:
                problems.append(problem)
                if run.brief:
                    break
        return problems

    def _forced(self, run: JobRun, started: Callable[[int], None]) -> ForcedRun:
        """Make a forced run, and repeat it if a statement wrote more than its text shows."""
        statements = [self.job.statements[index] for index in run.statements]
        lines = [line for statement in statements for line in statement.lines]
        given = self.groups[run.given] if run.given else {}
        upstreams: Mapping[str, Any] = {**self.groups[run.upstreams], **given}

        for _ in range(MOST_TURNS):
            self._begin(run)
            lends = self._lends(lines, frozenset(given), upstreams.keys())
            whole = self._blocks_of_a_piece(statements, lends)
            names = Names(self.namespace(run), upstreams)
            writes = self.writes | whole
            forced = ForcedRun(names, lends, writes, self.gradients, self.job.uncounted)

            def execute(
                statement: Statement, names: dict[str, Any], whole: Set[int] = whole.keys()
            ) -> Problem | None:
                return self._execute(statement, names, started, statement.number not in whole)

            forced.run(statements, execute)
            seen = forced.unshown | {(number, g) for g, number in forced.spoiling.items()}
            within = {number for number, _ in seen} & whole.keys()
            self.looked_into |= within
            news = {one for one in forced.unshown - self.unshown if one[0] not in within}
            self.unshown |= news
            for number, gradient in news:
                self.writes[number] |= {gradient}
            if not news and not within:
                break
        forced.unshown = self.unshown
        return forced

    def _lends(
        self, lines: list[Line], given: frozenset[str], there: Any
    ) -> dict[int, frozenset[str]]:
        lends = find_lends(lines, self.writes, self.job.above)
        return {
            number: ((lent | given) & there) - self.writes[number] for number, lent in lends.items()
        }

    def _blocks_of_a_piece(
        self, statements: Sequence[Statement], lends: Mapping[int, Set[str]]
    ) -> dict[int, frozenset[str]]:
        """Map each compound statement that makes only one gradient to the names it writes.

        Such a statement is run as a whole, because nothing inside it has to be told apart.
        """
        found = {}
        for first, *inside in ([line.number for line in one.lines] for one in statements):
            if not inside or first in self.looked_into:
                continue
            written = self.writes[first].union(*(self.writes[number] for number in inside))
            is_uniform = all(lends[number] == lends[first] for number in inside)
            if is_uniform and len(self.gradients & written) <= 1:
                found[first] = written
        return found

    def _begin(self, run: JobRun) -> None:
        # Not torch.manual_seed: that seeds all kinds of devices, with a formatted stack each.
        torch.default_generator.manual_seed(0)
        torch.set_default_dtype(torch.float64 if run.double else torch.float32)

    def _execute(
        self,
        statement: Statement,
        names: dict[str, Any],
        started: Callable[[int], None],
        is_marked: bool = False,
    ) -> Problem | None:
        if statement.number in self.skipped:
            return None
        if (problem := self.forecast(statement)) is not None:
            return problem
        started(statement.number)
        begun = time.monotonic()
        problem = self.execute(statement, names, statement.marked if is_marked else statement.code)
        if time.monotonic() - begun > SLOW_SECONDS and self._is_idle(statement):
            self.skipped.add(statement.number)
        return problem

    def _is_idle(self, statement: Statement) -> bool:
        """Say whether no gradient depends on what the statement writes, directly or indirectly.

        A value that is only printed, as in `w = train()` and `print(w)`, needs no second run.
        """
        goes_in, before = self.gradients, frozenset[str]()
        while goes_in != before:
            before = goes_in
            for one in self.job.statements:
                if any(self.writes[line.number] & before for line in one.lines):
                    goes_in = goes_in.union(*(line.reads for line in one.lines))
        return all(goes_in.isdisjoint(self.writes[line.number]) for line in statement.lines)

    def namespace(self, run: JobRun) -> dict[str, Any]:
        """Make the notebook's names, as an answer finds them, with tensors of this run alone."""
        values: dict[str, Any] = {"__name__": "__main__", **self.given}
        for group in map(self.groups.__getitem__, run.groups):
            values |= {
                name: value.clone() if isinstance(value, Tensor) else value
                for name, value in group.items()
                if name not in self.gradients
            }
        return values
