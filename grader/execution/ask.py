"""Asking: an answer's jobs go to a worker, within the answer's time, and return as results."""

from __future__ import annotations

import copy
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

from grader.answer.parse import Answer, Raised
from grader.answer.script import Script
from grader.execution.problems import find_incident
from grader.execution.runner import AnyRunner, WorkerLost
from grader.printable import counted
from grader.program.forward_program import ForwardProgram
from grader.verdict import Flag, Place
from grader.worker.frames import Reply
from grader.worker.job import Group, Job, JobRun, Values
from grader.worker.results import Made, Problem, Result, unpack_results
from grader.worker.terms import HUNG

LARGEST_METADATA = 2**20
"""The most bytes of the description of a reply's values; most have about ten thousand."""

UNREADABLE = Raised(
    "What came back from running this answer is not data that can be read.", by_limit=True
)

Results = list[Result | Raised]
"""The result of each run, or the reason why it has none."""


@lru_cache(maxsize=64)
def handed_down(program: ForwardProgram, gradients: tuple[str, ...]) -> Made:
    """Map each gradient to those of the others that lie between its tensor and the loss."""
    asked = frozenset(gradients)
    return {g: asked.intersection(f"d{s}" for s in program.descendants(g[1:])) for g in asked}


class Allowance:
    """The time that the answers of a notebook, and the edits of them, may take together.

    However often a process dies or hangs, nothing more is asked when the time is over.
    """

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._until = clock() + seconds

    @property
    def left(self) -> float:
        """The seconds that are left, at most 0 when the time is over."""
        return self._until - self._clock()

    def part(self, seconds: float) -> Allowance:
        """Return an allowance of this many seconds, or of what is left."""
        return Allowance(min(seconds, self.left), self._clock)

    def end(self) -> None:
        """End the time now."""
        self._until = -math.inf


@dataclass(slots=True, eq=False)
class Worker:
    """Runs the statements of one answer, and collects as `flags` what a human should know.

    `above` maps each gradient to those between its tensor and the loss.
    """

    answer: Answer
    script: Script
    values: Values
    above: Made
    runner: AnyRunner
    allowance: Allowance
    flags: list[Flag] = field(default_factory=list)
    known: dict[int, Problem] = field(default_factory=dict)

    def ask(
        self, runs: Sequence[JobRun], extra: Mapping[str, Group] = {}, continues: bool = False
    ) -> Results:
        """Make these runs in a new process, or in one that `continues` with this answer."""
        if not any(run.statements for run in runs):
            return [Result({}, {}, ()) for _ in runs]
        limits = self.runner.limits
        missing = Raised(
            f"The notebook as a whole did not end within {counted(limits.total_seconds, 'second')},"
            " or ended the process that ran it again and again; this gradient was not reached.",
            by_limit=True,
        )
        if (left := self.allowance.left) <= 0:
            return [missing] * len(runs)
        job = Job(
            self.values.key,
            self.script.statements,
            tuple(runs),
            self.above,
            replace(limits, total_seconds=min(left, limits.total_seconds)),
            self.script.uncounted,
            extra,
            tuple(self.known.values()),
            continues,
        )
        try:
            reply = self.runner.run(job, self.values)
        except WorkerLost as lost:
            self.flags.append(Flag("incident", str(lost), None))
            return [Raised(str(lost), by_limit=True)] * len(runs)
        results = results_of(reply, len(runs))
        if UNREADABLE in results:
            self.flags.append(Flag("unreadable-reply", UNREADABLE.message, None))
        self.flags += self._flags(reply, results)
        if len(results) < len(runs):
            self.flags.append(Flag("time-limit", missing.message, None))
        return results + [missing] * (len(runs) - len(results))

    def with_script(self, script: Script) -> Worker:
        """Make another of these for other statements of the answer, with the same time left."""
        other = copy.copy(self)
        other.script, other.known = script, {}
        return other

    def place_of(self, number: int) -> Place | None:
        """Find the place of a statement, or None if the student's process named none of them."""
        written = self.script.written_as.get(number)
        return None if written is None else self.answer.places[written]

    def _flags(self, reply: Reply, results: Results) -> Iterator[Flag]:
        for number, how in reply.deadly.items():
            kind = "time-limit" if how.startswith(HUNG) else "ended-process"
            yield Flag(kind, f"A statement {how}.", self.place_of(number))
        yield from (Flag("incident", sentence, None) for sentence in reply.incidents)
        for result in results:
            for problem in result.problems if isinstance(result, Result) else ():
                place = self.place_of(problem.statement)
                if problem.kind in ("TimeLimit", "Gone"):
                    inner = problem.inner
                    self.known[problem.statement if inner is None else inner] = problem
                if problem.kind == "TimeLimit":
                    seconds = counted(self.runner.limits.statement_seconds, "second")
                    sentence = f"A statement did not end within {seconds}."
                    yield Flag("time-limit", sentence, place)
                elif incident := find_incident(problem):
                    yield Flag(*incident, place)


def results_of(reply: Reply, runs: int) -> Results:
    """Read the results of this many runs, or of the first ones; `UNREADABLE` if that fails.

    The reply comes from the student's process, so it may contain anything.
    """
    if not reply.blob:
        return []
    try:
        if int.from_bytes(reply.blob[:8], "little") > LARGEST_METADATA:
            raise ValueError("more metadata than values need")
        return [*unpack_results(reply.blob, runs)]
    except ValueError:
        return [UNREADABLE] * runs
