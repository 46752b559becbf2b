"""Observing: an answer runs on every instance, as it is and forced.

One job is handed to the worker: the lecture's run, a plain run on each hidden instance, and a
forced run on each. A gradient that is wrong both ways and was made from its siblings is run again.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace

import torch

from grader.answer.assigned import first_assignments
from grader.answer.parse import Answer, Raised, is_blank
from grader.answer.script import Script, read_script
from grader.execution.ask import Worker, handed_down
from grader.execution.evidence import GradientEvidence, Value, furthest
from grader.execution.problems import describe_problem, ran_out_of_memory
from grader.execution.runner import AnyRunner
from grader.execution.values import right_beside, right_from_loss, values_for
from grader.program.compare import FLOAT64_TOLERANCE
from grader.program.references import References
from grader.verdict import Flag, Place
from grader.worker.job import JobRun
from grader.worker.results import REFUSED, Problem, Result, Trace


def observe(
    answer: Answer,
    gradients: Sequence[str],
    references: References,
    runner: AnyRunner,
    offences: Sequence[tuple[int, Flag]],
) -> tuple[list[GradientEvidence], Set[int], list[Flag]]:
    """Run an answer; say what was seen of each gradient.

    Args:
        answer: the parsed answer.
        gradients: the gradients asked for.
        references: the instances with what autograd says of them. None of that is handed on, but
            the true siblings of a wrong gradient for random upstreams, to a process that is asked
            for that gradient only.
        runner: a warm worker.
        offences: what the answer says of autograd, with the number of the statement.

    Returns:
        What was observed of each gradient, the statements that may make one, and what a human
        should know: which took the process with them, ran too long, or tried what no gradient
        needs.
    """
    observer = _Observer(answer, gradients, references, runner)
    observed = observer.observe(offences)
    making = set[int]().union(*(answer.inside[top] for item in observed for top in item.code))
    return observed, making, list(dict.fromkeys(observer.worker.flags))


@dataclass(frozen=True, slots=True)
class _Own:
    """The statements that make a gradient, by their numbers in the script, and those that write it.

    Of the gradients handed down to it, `lent` are read and `writes` written; `siblings` are others
    that are read, `spoilt` those whose statements, those of the numbers `spoiling`, change it too.
    """

    keep: frozenset[int]
    writers: frozenset[int]
    lent: frozenset[str]
    writes: frozenset[str]
    siblings: frozenset[str]
    spoilt: frozenset[str]
    spoiling: frozenset[int]

    @property
    def reads(self) -> frozenset[str]:
        """All gradients that are read."""
        return self.lent | self.siblings


Values = tuple[Value, ...]
"""One on each hidden instance."""


class _Observer:
    """Observes one answer."""

    def __init__(
        self,
        answer: Answer,
        gradients: Sequence[str],
        references: References,
        runner: AnyRunner,
    ) -> None:
        self.answer, self.gradients, self.references = answer, tuple(gradients), references
        self.asked = frozenset(gradients)
        self.above = handed_down(references.program, self.gradients)
        script = read_script(answer, self.asked)
        slips = (
            (number, name)
            for number, written in script.written_as.items()
            for name in answer.shown[answer.statements[written]].changes & self.asked
        )
        self.script = script.with_unshown(slips)
        values = values_for(references, self.gradients)
        self.worker = Worker(answer, self.script, values, self.above, runner)

    @property
    def instances(self) -> range:
        """The numbers of the hidden instances."""
        return range(len(self.references.hidden))

    def observe(self, offences: Sequence[tuple[int, Flag]]) -> list[GradientEvidence]:
        """Make the runs, and read what they show of each gradient."""
        lecture, *others = self.worker.ask(self._runs(self.script))
        plain, forced = others[: len(self.instances)], others[len(self.instances) :]
        traces = [one.trace for one in forced if isinstance(one, Result) and one.trace]
        unshown = {
            (number, name)
            for trace in traces
            for number, name in trace.unshown
            if number in self.script.written_as and name in self.asked
        }
        self.script = self.script.with_unshown(unshown)
        reader = _Reader(self.answer, self.script, self.worker, self.references)
        own = {g: self._own(g, traces, self.script) for g in self.gradients}
        whole = {g: [reader.read(r, g, own[g]) for r in (lecture, *plain)] for g in self.gradients}
        local = {g: [reader.read(r, g, own[g]) for r in forced] for g in self.gradients}
        apart = self._furthest(whole, {g: self.references.gradients(g[1:]) for g in whole}, skip=1)
        right = {g for g, far in apart.items() if far <= FLOAT64_TOLERANCE}
        for g in self._stuck(right, local, own):
            local[g], own[g] = self._run_alone(g, own[g])
        for g in self._stuck_in_functions(right, local):
            alone, found = self._run_alone(g, own[g], forgiving=True)
            if all(value.tensor is not None for value in alone):
                local[g], own[g] = alone, found
        again = self._run_again(right, local, own, reader)
        broken = _find_broken(self.answer, self.gradients)
        observed = []
        for g in self.gradients:
            mine = own[g]
            written = {self.script.written_as[number] for number in mine.keep}
            with_siblings, among_right = again.get(g, (None, None))
            if with_siblings and any(value.raised for value in local[g]):
                # A sibling that stands further down is missing, and would hide the line's mistake.
                local[g] = [*with_siblings]
            assigned = tuple(Value(trace.assigned[g]) for trace in traces if g in trace.assigned)
            evidence = GradientEvidence(
                g,
                whole[g][0],
                tuple(whole[g][1:]),
                local=tuple(local[g][:1] if g in right and self._shows(g, mine) else local[g]),
                apart=apart.get(g, math.inf),
                reads=_tensors(mine.reads),
                writes=_tensors(mine.writes),
                channels=_tensors(mine.spoilt),
                as_assigned=assigned or None,
                siblings=_tensors(mine.siblings),
                beside=with_siblings,
                among_right=among_right,
                place=self._place(g, mine),
                offences=tuple(flag for number, flag in offences if number in written),
                broken=None if mine.writers else broken.get(g),
                is_written=bool(mine.writers),
                code=self._code(g, mine),
                keep=frozenset(written),
            )
            observed.append(evidence)
        return observed

    def _runs(self, script: Script) -> list[JobRun]:
        every = tuple(range(len(script.statements)))
        is_double = self.references.lecture.dtype is torch.float64
        return [
            JobRun(("lecture",), every, self.gradients, is_double),
            *(JobRun((f"hidden{n}",), every, self.gradients, True) for n in self.instances),
            *(
                JobRun((f"hidden{n}",), every, self.gradients, True, f"upstream{n}")
                for n in self.instances
            ),
        ]

    def _own(self, gradient: str, traces: Sequence[Trace], script: Script) -> _Own:
        above = self.above[gradient]

        def seen(of: str) -> frozenset[str]:
            found = (getattr(trace, of).get(gradient, frozenset()) for trace in traces)
            return self.asked.intersection(frozenset[str]().union(*found))

        keep = script.making(gradient, above)
        written = (line.writes for line in script.lines if line.number in keep)
        return _Own(
            keep,
            script.writing(gradient),
            seen("lent") - {gradient},
            frozenset[str]().union(*written) & above,
            seen("siblings") - above - {gradient},
            seen("spoilt") - {gradient},
            frozenset(
                number
                for trace in traces
                for number, name in trace.spoiling
                if name == gradient and number in script.written_as
            ),
        )

    def _furthest(
        self,
        values: Mapping[str, Sequence[Value]],
        right: Mapping[str, Sequence[torch.Tensor]],
        skip: int = 0,
    ) -> Mapping[str, float]:
        found = ((g, own[skip:], right[g]) for g, own in values.items())
        return furthest(found, self.references)

    def _shows(self, gradient: str, own: _Own) -> bool:
        """True if a mistake shows in the gradient's value, so that no verdict depends on its lines.

        Then the small instance tells enough of them: on a large one, what is almost right is wrong.
        """
        zero, beside_zero = self.references.zero_by_structure, self.references.beside_zero
        return gradient[1:] not in zero | beside_zero and zero.isdisjoint(_tensors(own.reads))

    def _stuck(
        self, right: Set[str], local: Mapping[str, Sequence[Value]], own: Mapping[str, _Own]
    ) -> list[str]:
        """Wrong gradients whose lines may have been kept from running by others in their block."""

        def shares_a_block(mine: _Own) -> bool:
            inside = ([line.number for line in one.lines] for one in self.script.statements)
            return any(
                not mine.keep.isdisjoint(numbers) and not mine.keep.issuperset(numbers)
                for numbers in inside
            )

        return [
            g
            for g, mine in own.items()
            if g not in right and mine.writers
            if any(v.tensor is None or v.raised or v.interrupted for v in local[g])
            if not any(v.raised and v.raised.by_limit for v in local[g])
            if shares_a_block(mine)
        ]

    def _stuck_in_functions(
        self, right: Set[str], local: Mapping[str, Sequence[Value]]
    ) -> list[str]:
        """Wrong gradients that a function should give, which may have raised at another."""
        functions = [
            (self.answer.places[self.answer.number[top]].cell, top.lineno, top.end_lineno or 0)
            for top in self.answer.top
            if isinstance(top, ast.FunctionDef)
        ]
        return [
            g
            for g, values in local.items()
            if g not in right
            for raised in [values[0].raised]
            if raised and raised.place and not raised.by_limit
            if any(
                raised.place.cell == cell and first <= raised.place.line <= last
                for cell, first, last in functions
            )
        ]

    def _run_alone(
        self, gradient: str, own: _Own, forgiving: bool = False
    ) -> tuple[list[Value], _Own]:
        """A gradient's local values where nothing else in its blocks runs."""
        keep = frozenset(self.script.written_as[number] for number in own.keep)
        script = read_script(self.answer, self.asked, keep, forgiving)
        worker = self.worker.with_script(script)
        runs = self._runs(script)[1 + len(self.instances) :]
        results = worker.ask(runs)
        traces = [one.trace for one in results if isinstance(one, Result) and one.trace]
        alone = self._own(gradient, traces, script)
        reader = _Reader(self.answer, script, worker, self.references)
        found = replace(alone, keep=own.keep, writers=own.writers, writes=own.writes)
        return [reader.read(result, gradient, alone) for result in results], found

    def _run_again(
        self,
        right: Set[str],
        local: Mapping[str, Sequence[Value]],
        own: Mapping[str, _Own],
        reader: _Reader,
    ) -> dict[str, tuple[Values | None, Values | None]]:
        """What gradients that are wrong both ways give where what they read fits together.

        Beside their siblings' true values, if they have any, and for one random upstream of the
        loss. Each has a process of its own, which is asked for that gradient only.
        """
        ran = {
            g: values
            for g, values in local.items()
            if g not in right and own[g].writers
            if not any(value.raised and value.raised.by_limit for value in values)
        }
        vjps = self.references.local_vjps
        apart = self._furthest(ran, {g: vjps(g[1:], _tensors(own[g].reads)) for g in ran})
        found = dict[str, tuple[Values | None, Values | None]]()
        for g in ran:
            # What is made from this gradient would give it away.
            siblings = {one for one in own[g].siblings if g not in self.above[one]}
            read = siblings | (own[g].lent & self.above[g])
            if apart.get(g, math.inf) <= FLOAT64_TOLERANCE or (read <= right and not siblings):
                continue
            beside = [*self._runs_again(g, own[g], "beside", siblings)] if siblings else []
            among = [] if read <= right else [*self._runs_again(g, own[g], "among", siblings)]
            groups = {"among": right_from_loss(self.references, read)}
            if siblings:
                groups["beside"] = right_beside(self.references, siblings)
            extra = {f"{name}{n}": some[n] for name, some in groups.items() for n in self.instances}
            results = [reader.read(r, g, own[g]) for r in self.worker.ask([*beside, *among], extra)]
            found[g] = (
                tuple(results[: len(beside)]) or None,
                tuple(results[len(beside) :]) or None,
            )
        return found

    def _runs_again(
        self, gradient: str, own: _Own, group: str, siblings: Set[str]
    ) -> Iterator[JobRun]:
        needed = tuple(
            index
            for index, statement in enumerate(self.script.statements)
            if any(line.number in own.keep for line in statement.lines)
        )
        for n in self.instances:
            given = f"{group}{n}" if siblings else ""
            if group == "among":
                # What arrives in the end is a value of the forward pass: it fits the rest too.
                groups = (f"hidden{n}", f"among{n}")
                yield JobRun(groups, needed, (gradient,), True, f"among{n}", given)
            else:
                yield JobRun((f"hidden{n}",), needed, (gradient,), True, f"upstream{n}", given)

    def _place(self, gradient: str, own: _Own) -> Place | None:
        """Where the gradient is written last, or else where its blank stands."""
        numbers = {self.script.written_as[number] for number in own.writers | own.spoiling} or {
            number
            for number in self.answer.writing(gradient)
            if is_blank(self.answer.statements[number])
        }
        return self.answer.places[max(numbers)] if numbers else None

    def _code(self, gradient: str, own: _Own) -> tuple[ast.stmt, ...]:
        """The outermost statements that a gradient is made by, or written by in vain."""
        answer = self.answer
        numbers = {self.script.written_as[number] for number in own.keep | own.writers}
        tops = (top for top, inside in answer.inside.items() if not inside.isdisjoint(numbers))
        return tuple(tops)


class _Reader:
    """Reads one gradient's value out of a run's result."""

    def __init__(
        self, answer: Answer, script: Script, worker: Worker, references: References
    ) -> None:
        self.worker = worker
        program = references.program
        self.gradients = program.gradient_names
        self.known = [*program.names, *sorted(self.gradients), *sorted(answer.bound), "torch", "F"]
        self.lines = {cell.grade_id: cell.source.count("\n") + 1 for cell in answer.cells}
        self.top_of = {
            line.number: statement.number
            for statement in script.statements
            for line in statement.lines
        }

    def read(self, result: Result | Raised, gradient: str, own: _Own) -> Value:
        """The gradient's value, with the problem that concerns it."""
        if isinstance(result, Raised):
            return Value(raised=result) if own.writers else Value()
        tensor, type_name = result.tensors.get(gradient), result.types.get(gradient)
        return Value(tensor, type_name, *self._concerning(result, own, tensor is not None))

    def _concerning(
        self, result: Result, own: _Own, has_value: bool
    ) -> tuple[Raised | None, Raised | None, Raised | None]:
        """The problem of a statement that writes the gradient, of one beside it, of one it needs.

        Without a value, a problem of any statement that the gradient needs counts as its own. With
        one, that autograd did not answer does not: if that left only half a value, it is wrong.
        """
        if not result.problems:
            return None, None, None
        kept, writing = ({self.top_of[n] for n in each} for each in (own.keep, own.writers))
        beside = [problem for problem in result.problems if problem.statement in kept]
        mine, needed = beside, list[Problem]()
        if has_value:
            mine = [p for p in mine if REFUSED not in p.message and "NoneType" not in p.message]
            needed = [p for p in mine if p.inner in own.keep]
            mine = [p for p in mine if p.statement in writing]
            mine = [p for p in mine if p.inner is None or p.inner in own.writers]
        return self._first(mine), self._first(beside), self._first(needed)

    def _first(self, problems: Sequence[Problem]) -> Raised | None:
        if not problems:
            return None
        first, runner = problems[0], self.worker.runner
        about = self.gradients, self.known, runner.unbound
        message = describe_problem(first, runner.limits, *about)
        by_limit = first.kind in ("TimeLimit", "Gone") or ran_out_of_memory(first)
        return Raised(message, self._place(first), by_limit)

    def _place(self, problem: Problem) -> Place | None:
        """Where a problem is, if there is such a place: the student's process says where."""
        cell, line = problem.cell, problem.line
        if cell in self.lines and line is not None and 0 < line <= self.lines[cell]:
            return Place(cell, line)
        return self.worker.place_of(problem.statement)


def _tensors(gradients: Set[str]) -> frozenset[str]:
    """The tensors that gradients belong to: "logits" for "dlogits"."""
    return frozenset(gradient[1:] for gradient in gradients)


def _find_broken(answer: Answer, gradients: tuple[str, ...]) -> Mapping[str, Raised]:
    """Why nothing was read of each gradient that an unreadable cell would have assigned."""
    if answer.unread is not None:
        return dict.fromkeys(gradients, answer.unread)
    found: dict[str, Raised] = {}
    for cell, reason in answer.broken.items():
        for gradient in first_assignments(cell.source, gradients):
            found.setdefault(gradient, reason)
    return found
