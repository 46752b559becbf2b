"""The runs of an answer: made by a worker, read back as results."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from grader.answer import Answer
from grader.evidence import Raised
from grader.incidents import find_incident
from grader.references import References
from grader.run_plan import RunPlan
from grader.runner import Reply, Runner, WorkerLost
from grader.slices import Slice
from grader.verdict import Flag
from grader.worker.request import Group, Values
from grader.worker.results import Result, unpack_results

UNREADABLE = Raised("What came back from running this answer is not data that can be read.")


@dataclass(frozen=True, slots=True)
class Lost:
    """In place of a run's result: why there is none."""

    reason: Raised


Results = Mapping[tuple[str, Slice], Sequence[Result | Lost]]
"""What came of a gradient's own statements, on one hidden instance after the other."""


class Runs:
    """Makes the runs of one answer."""

    def __init__(
        self, answer: Answer, references: References, values: Values, runner: Runner
    ) -> None:
        self.answer = answer
        self.references = references
        self.values = values
        self.runner = runner
        self.flags: list[Flag] = []
        self.until = time.monotonic() + runner.limits.total_seconds

    def whole_and_alone(
        self, gradients: Sequence[str], *wanted: Sequence[tuple[str, Slice]]
    ) -> tuple[Sequence[Result | Lost], Results]:
        """The whole answer on every instance, then each gradient's statements on upstreams."""
        plan = RunPlan(self.answer, len(self.references.hidden))
        plan.add_whole(gradients)
        pieces = list(dict.fromkeys(itertools.chain(*wanted)))
        for gradient, piece in pieces:
            plan.add_slice(gradient, piece)
        count = 1 + len(self.references.hidden)
        results = self._make(plan)
        return results[:count], self._dealt(pieces, results[count:])

    def beside(
        self, wanted: Sequence[tuple[str, Slice]], siblings: Mapping[str, frozenset[str]]
    ) -> Results:
        """Gradients' own statements with their siblings given as they should be.

        What is given to one is asked of another: the answer's process must not see both, so each
        gradient has a process of its own.
        """
        results: dict[tuple[str, Slice], Sequence[Result | Lost]] = {}
        for gradient, piece in wanted:
            plan = RunPlan(self.answer, len(self.references.hidden))
            plan.add_slice(gradient, piece, self._right(siblings[gradient]))
            results |= self._dealt([(gradient, piece)], self._make(plan))
        return results

    def _right(self, siblings: frozenset[str]) -> list[Group]:
        # What is no upstream of a gradient has to fit those that are.
        readers = self.references.program.readers
        return [
            Group(
                {
                    name: reference.local_vjp(name[1:], frozenset(readers(name[1:])))
                    for name in sorted(siblings)
                }
            )
            for reference in self.references.hidden
        ]

    def _dealt(
        self, pieces: Sequence[tuple[str, Slice]], results: Sequence[Result | Lost]
    ) -> Results:
        count = len(self.references.hidden)
        return {
            piece: results[number * count : (number + 1) * count]
            for number, piece in enumerate(pieces)
        }

    def _make(self, plan: RunPlan) -> list[Result | Lost]:
        """Every run's result, in order; those that never came say why."""
        if not self.answer.cells:
            return [Result({}, {}, ()) for _ in range(len(plan))]
        limits = self.runner.limits
        missing = Lost(
            Raised(
                f"The answer as a whole did not end within {limits.total_seconds:g} seconds, or"
                " ended the process that ran it again and again; this gradient was not reached."
            )
        )
        # All requests of an answer have the time of one: it may ask for many.
        left = self.until - time.monotonic()
        if left <= 0:
            return [missing] * len(plan)
        limits = replace(limits, total_seconds=min(left, limits.total_seconds))
        try:
            reply = self.runner.run(plan.request(self.values, limits), self.values)
        except WorkerLost as lost:
            self.flags.append(Flag("incident", str(lost), None))
            return [Lost(Raised(str(lost))) for _ in range(len(plan))]
        results: list[Result | Lost] = []
        for count, blob in reply.blobs:
            # Anything may be in what came from the student's process.
            try:
                results += unpack_results(blob, count)
            except ValueError:
                results += [Lost(UNREADABLE)] * count
                self.flags.append(Flag("unreadable-reply", UNREADABLE.message, None))
        self.flags += self._flags(reply, results)
        if len(results) < len(plan):
            self.flags.append(Flag("time-limit", missing.reason.message, None))
        return results + [missing] * (len(plan) - len(results))

    def _flags(self, reply: Reply, results: Sequence[Result | Lost]) -> Iterator[Flag]:
        for number, how in reply.deadly.items():
            yield Flag("ended-process", f"A statement {how}.", self.answer.place_of(number))
        yield from (Flag("incident", sentence, None) for sentence in reply.incidents)
        for result in results:
            for problem in result.problems if isinstance(result, Result) else ():
                place = self.answer.place_of(problem.statement)
                if problem.kind == "TimeLimit":
                    seconds = f"{self.runner.limits.statement_seconds:g}"
                    sentence = f"A statement did not end within {seconds} seconds."
                    yield Flag("time-limit", sentence, place)
                elif incident := find_incident(problem.kind, problem.message):
                    yield Flag(*incident, place)
