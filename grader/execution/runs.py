"""The runs of an answer: planned, made by a worker, read back as results."""

from __future__ import annotations

import ast
import itertools
import time
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import lru_cache
from types import CodeType, MappingProxyType

import torch
from torch import Tensor

from grader.answer.parse import Answer, Raised, compile_statement
from grader.answer.slices import Slice
from grader.answer.statements import COMPOUND, marked, pruned, walk_statements
from grader.execution.problems import find_incident
from grader.execution.runner import AnyRunner, Reply, WorkerLost
from grader.printable import counted
from grader.program.instances import Instance
from grader.program.references import References
from grader.verdict import Flag
from grader.worker.request import Group, Request, RunOrder, Statement, Values
from grader.worker.results import Problem, Result, Seen, unpack_results
from grader.worker.terms import HUNG, Limits

LARGEST_METADATA = 2**20
"""Bytes that are read of what describes the values of a reply; most have some ten thousand."""

UNREADABLE = Raised(
    "What came back from running this answer is not data that can be read.", by_limit=True
)

Piece = tuple[str, Slice]
"""A gradient, and the statements that are run of it."""

Results = Mapping[Piece, Sequence[Result | Raised]]
"""What came of a gradient's own statements, on one hidden instance after the other.

Where a run has no result, the reason stands in its place.
"""

_KEYS = itertools.count()


@lru_cache(maxsize=64)  # a course has some exercises; `explain` makes new references each time
def values_for(references: References, gradients: tuple[str, ...]) -> Values:
    """The values that every answer to an exercise is run on.

    The lecture's instance, the hidden ones, and for each of these the random upstreams: nothing
    that autograd has said.
    """
    numbers = references.program.numbers()
    groups: dict[str, Group] = {"lecture": _group(references.lecture, numbers)}
    for number, reference in enumerate(references.hidden):
        groups[f"hidden{number}"] = _group(reference.instance, numbers)
        upstreams = {
            name: reference.cotangents[name[1:]]
            for name in gradients
            if name[1:] in reference.cotangents
        }
        groups[f"upstream{number}"] = upstreams
    return Values(new_key(), groups)


def right_beside(references: References, gradients: Set[str]) -> list[Group]:
    """What gradients should be on each hidden instance, given what arrives there.

    What is no upstream of a gradient has to fit those that are: the random ones, or what arrives in
    the end as a value of the forward pass.
    """
    program, names = references.program, sorted(gradients)
    ends = {*program.arrivals().values()}
    readers = (frozenset(program.readers(name[1:])) for name in names)
    given = (steps if steps.isdisjoint(ends) else frozenset[str]() for steps in readers)
    right = [references.local_vjps(name[1:], one) for name, one in zip(names, given, strict=True)]
    return [dict(zip(names, values, strict=True)) for values in zip(*right, strict=True)]


def right_from_loss(references: References, gradients: Set[str]) -> list[Group]:
    """What gradients are on each hidden instance where a random number arrives at the loss.

    All of them fit each other. What arrives from outside, as a value of the forward pass, is so
    many times what it was.
    """
    arriving = references.program.arrivals()
    return [
        {
            **{name: one.from_loss(name[1:]) for name in sorted(gradients)},
            **{name: one.at_loss * one.instance.values[name] for name in sorted(arriving)},
        }
        for one in references.hidden
    ]


def new_key() -> str:
    """A key that no other values of this process have."""
    return f"values-{next(_KEYS)}"


def _group(instance: Instance, numbers: Mapping[str, float]) -> Group:
    kinds = (Tensor, int, float)
    values = {name: v for name, v in instance.values.items() if isinstance(v, kinds)}
    return {**numbers, **instance.sizes, **values}


class RunPlan:
    """Collects runs of one answer, and makes the request for them.

    `runs` are those so far, of statements that `compiled` has made ready.
    """

    def __init__(self, answer: Answer) -> None:
        self._answer = answer
        self._statements: list[Statement] = []
        self._indices: dict[tuple[int, frozenset[int]], int] = {}
        self._kept: dict[frozenset[int], list[tuple[ast.stmt, frozenset[int]]]] = {}
        self.runs: list[RunOrder] = []
        self._extra: dict[str, Group] = {}

    def add_whole(
        self,
        instances: Sequence[int],
        gradients: Sequence[str],
        double: bool = False,
    ) -> None:
        """The whole answer: on the lecture's instance, recorded, and on these hidden instances.

        `double` says that the lecture's instance is a float64 one too.
        """
        live, want = self.compiled(self._answer.live), tuple(gradients)
        self.runs.append(RunOrder(("lecture",), live, want, (), double))
        self.add_recorded(want)
        self.runs += [RunOrder((f"hidden{number}",), live, want, (), True) for number in instances]

    def add_recorded(self, want: tuple[str, ...] = ()) -> None:
        """The whole answer on the first hidden instance, to see what its statements do.

        Where nothing fails, the worker need not run the answer there again for what is wanted.
        """
        live = self._answer.live
        indices = list(self.compiled(live))
        for position, index in enumerate(indices):
            plain = self._statements[index]
            top = self._answer.statements[plain.number]
            changed = marked(top, self._answer.number, live)
            if changed is not top:
                code = compile_statement(changed, plain.cell)
                indices[position] = len(self._statements)
                self._statements.append(replace(plain, code=code))
        groups = ("hidden0", "upstream0")
        self.runs.append(RunOrder(groups, tuple(indices), want, (), True, recorded=True))

    def add_slice(
        self, piece: Piece, instances: Sequence[int], beside: Sequence[Group] = ()
    ) -> None:
        """A gradient's own statements on these instances' upstreams, and what is given beside."""
        gradient, own = piece
        statements = self.compiled(own.keep)
        fixed = tuple(sorted(own.fixed))
        for number in instances:
            groups: tuple[str, ...] = (f"hidden{number}", f"upstream{number}")
            if beside:
                groups = (*groups, f"beside-{gradient}{number}")
                self._extra[groups[-1]] = beside[number]
            self.runs.append(RunOrder(groups, statements, (gradient,), fixed, True))

    def request(self, values: Values, limits: Limits, known: Sequence[Problem] = ()) -> Request:
        """All runs added so far; statements with a known problem are not to be run again."""
        return Request(
            values.key,
            tuple(self._statements),
            tuple(self.runs),
            limits,
            self._extra,
            tuple(known),
        )

    def compiled(
        self, keep: frozenset[int], edited: Mapping[int, CodeType | None] = MappingProxyType({})
    ) -> tuple[int, ...]:
        """Indices of the top-level statements to run, without what is not kept inside them.

        `edited` has other code for some of them, by their numbers; None leaves one out.
        """
        answer, indices = self._answer, list[int]()
        if keep not in self._kept:
            inside = ((top, keep & answer.inside[top]) for top in answer.top)
            self._kept[keep] = [(top, kept) for top, kept in inside if kept]
        for top, kept in self._kept[keep]:
            number = answer.number[top]
            if number not in edited:
                indices.append(self._index(top, kept))
            elif (code := edited[number]) is not None:
                # A number of its own: what one edit does is not to be held against another.
                own = len(answer.statements) + len(self._statements)
                spans = ((own, 1, 10**6),)
                indices.append(len(self._statements))
                self._statements.append(Statement(own, answer.places[number].cell, 1, spans, code))
        return tuple(indices)

    def _index(self, top: ast.stmt, kept: frozenset[int]) -> int:
        key = self._answer.number[top], kept
        if key not in self._indices:
            self._indices[key] = len(self._statements)
            self._statements.append(_compile(self._answer, top, kept))
        return self._indices[key]


def _compile(answer: Answer, top: ast.stmt, kept: frozenset[int]) -> Statement:
    number = answer.number[top]
    place = answer.places[number]
    inside = [s for s in walk_statements([top]) if answer.number[s] in kept]
    spans = ((answer.number[s], s.lineno, s.end_lineno or s.lineno) for s in inside)
    if isinstance(top, COMPOUND) and len(kept) < len(answer.inside[top]):
        code = compile_statement(pruned(top, set(inside)), place.cell)
    else:
        code = answer.codes[top]
    return Statement(number, place.cell, top.lineno, tuple(spans), code, number in answer.plain)


@dataclass(slots=True, eq=False)
class Runs:
    """Makes the runs of one answer; `flags` are what a human should know of them."""

    answer: Answer
    references: References
    values: Values
    runner: AnyRunner
    flags: list[Flag] = field(default_factory=list)
    known: dict[int, Problem] = field(default_factory=dict)
    until: float = field(init=False)

    def __post_init__(self) -> None:
        self.until = time.monotonic() + self.runner.limits.total_seconds

    @property
    def instances(self) -> range:
        """The numbers of the hidden instances."""
        return range(len(self.references.hidden))

    def whole_and_alone(
        self, gradients: Sequence[str], wanted: Mapping[Piece, Sequence[int]]
    ) -> tuple[Sequence[Result | Raised], Mapping[int, Seen], Results]:
        """The whole answer on every instance, what it did, gradients' own statements alone."""
        plan = RunPlan(self.answer)
        is_double = self.references.lecture.dtype is torch.float64
        plan.add_whole(self.instances, gradients, is_double)
        for piece, instances in wanted.items():
            plan.add_slice(piece, instances)
        lecture, recorded, *others = self._make(plan)
        count = len(self.instances)
        seen = recorded if isinstance(recorded, Result) else Result({}, {}, ())
        return [lecture, *others[:count]], seen.seen, _dealt(wanted, others[count:])

    def alone(
        self,
        wanted: Mapping[Piece, Sequence[int]],
        beside: Sequence[Group] = (),
        continues: bool = False,
    ) -> Results:
        """Gradients' own statements on some instances, with some right values beside.

        What is given to one gradient may be asked of another: the answer's process must not see
        both, so a gradient that is given any has a request of its own. What `continues` is run as
        if it had been asked for with the whole: then nothing that is given may be asked for later.
        """
        plan = RunPlan(self.answer)
        for piece, instances in wanted.items():
            plan.add_slice(piece, instances, beside)
        return _dealt(wanted, self._make(plan, continues)) if len(plan.runs) else {}

    def _make(self, plan: RunPlan, continues: bool = False) -> list[Result | Raised]:
        """Every run's result, in order; those that never came say why."""
        if not self.answer.live:
            return [Result({}, {}, ()) for _ in range(len(plan.runs))]
        limits = self.runner.limits
        time_of_all = counted(limits.total_seconds, "second")
        missing = Raised(
            f"The answer as a whole did not end within {time_of_all}, or ended the process that ran"
            " it again and again; this gradient was not reached.",
            by_limit=True,
        )
        # All requests of an answer have the time of one: it may ask for many.
        left = self.until - time.monotonic()
        if left <= 0:
            return [missing] * len(plan.runs)
        limits = replace(limits, total_seconds=min(left, limits.total_seconds))
        try:
            request = plan.request(self.values, limits, [*self.known.values()])
            # What is run next is edits of this answer, or a request of its own in a new process.
            request = replace(request, stays=True, continues=continues)
            reply = self.runner.run(request, self.values)
        except WorkerLost as lost:
            self.flags.append(Flag("incident", str(lost), None))
            return [Raised(str(lost), by_limit=True)] * len(plan.runs)
        results = results_of(reply)
        if UNREADABLE in results:
            self.flags.append(Flag("unreadable-reply", UNREADABLE.message, None))
        self.flags += self._flags(reply, results)
        if len(results) < len(plan.runs):
            self.flags.append(Flag("time-limit", missing.message, None))
        return results + [missing] * (len(plan.runs) - len(results))

    def _flags(self, reply: Reply, results: Sequence[Result | Raised]) -> Iterator[Flag]:
        for number, how in reply.deadly.items():
            kind = "time-limit" if how.startswith(HUNG) else "ended-process"
            yield Flag(kind, f"A statement {how}.", self.answer.place_of(number))
        yield from (Flag("incident", sentence, None) for sentence in reply.incidents)
        for result in results:
            for problem in result.problems if isinstance(result, Result) else ():
                place = self.answer.place_of(problem.statement)
                if problem.kind in ("TimeLimit", "Gone"):
                    inner = problem.inner
                    self.known[problem.statement if inner is None else inner] = problem
                if problem.kind == "TimeLimit":
                    seconds = counted(self.runner.limits.statement_seconds, "second")
                    sentence = f"A statement did not end within {seconds}."
                    yield Flag("time-limit", sentence, place)
                elif incident := find_incident(problem):
                    yield Flag(*incident, place)


def results_of(reply: Reply) -> list[Result | Raised]:
    """The runs of a reply, read; `UNREADABLE` in the place of those of a blob that is none.

    Anything may be in what came from the student's process.
    """
    results: list[Result | Raised] = []
    left = LARGEST_METADATA
    for count, blob in reply.blobs:
        try:
            if (length := int.from_bytes(blob[:8], "little")) > left:
                raise ValueError("more metadata than values need")
            left -= length
            results += unpack_results(blob, count)
        except ValueError:
            results += [UNREADABLE] * count
    return results


def _dealt(wanted: Mapping[Piece, Sequence[int]], results: Sequence[Result | Raised]) -> Results:
    left = iter(results)
    return {piece: [*itertools.islice(left, len(instances))] for piece, instances in wanted.items()}
