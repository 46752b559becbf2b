"""Observing: an answer runs on every instance, as it is and forced.

One job is handed to the worker: the lecture's run, a plain run on each hidden instance, and a
forced run on each. A gradient that is wrong both ways and was made from its siblings is run again.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace

import torch

from grader.answer.assigned import first_assignments
from grader.answer.parse import Answer, Raised, is_blank
from grader.answer.script import Script, read_script
from grader.answer.statements import COMPOUND
from grader.execution.ask import Allowance, Results, Worker, handed_down
from grader.execution.evidence import GradientEvidence, Value, furthest
from grader.execution.problems import describe_problem
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
    allowance: Allowance,
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
        allowance: the time that is left.

    Returns:
        What was observed of each gradient, the statements that may make one, and what a human
        should know: which took the process with them, ran too long, or tried what no gradient
        needs.
    """
    observer = _Observer(answer, gradients, references, runner, allowance)
    observed = observer.observe(offences)
    making = set[int]().union(*(answer.inside[top] for item in observed for top in item.code))
    return observed, making, list(dict.fromkeys(observer.worker.flags))


@dataclass(frozen=True, slots=True, eq=False)
class _Own:
    """The statements that make a gradient, by their numbers in the script, and those that write it.

    Of the gradients handed down to it, `lent` are read and `writes` written; `siblings` are others
    that are read, `spoilt` those whose statements, those of the numbers `spoiling`, change it too:
    without that it has the values `assigned`.
    """

    keep: frozenset[int]
    writers: frozenset[int]
    lent: frozenset[str]
    writes: frozenset[str]
    siblings: frozenset[str]
    spoilt: frozenset[str]
    spoiling: frozenset[int]
    assigned: tuple[Value, ...]

    @property
    def reads(self) -> frozenset[str]:
        """All gradients that are read."""
        return self.lent | self.siblings


Values = tuple[Value, ...]
"""One on each hidden instance."""


class _Observer:
    """Observes one answer.

    `own` are what makes each gradient, `local` its values in forced runs, `right` the gradients
    whose values of the whole answer are right.
    """

    def __init__(
        self,
        answer: Answer,
        gradients: Sequence[str],
        references: References,
        runner: AnyRunner,
        allowance: Allowance,
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
        self.worker = Worker(answer, self.script, values, self.above, runner, allowance)
        self.reader = _Reader(answer, self.script, self.worker, references)
        self.instances = range(len(references.hidden))
        self.own, self.local = dict[str, _Own](), dict[str, list[Value]]()
        self.right = set[str]()

    def observe(self, offences: Sequence[tuple[int, Flag]]) -> list[GradientEvidence]:
        """Make the runs, and read what they show of each gradient."""
        every = tuple(range(len(self.script.statements)))
        double = self.references.lecture.dtype is torch.float64
        lecture = JobRun(("lecture",), every, self.gradients, double)
        plain = [JobRun((f"hidden{n}",), every, self.gradients, True) for n in self.instances]
        *results, first = self.worker.ask([lecture, *plain, self._forced_run(0, every)])
        self._read_forced([first], self.gradients)
        whole = {
            g: [self.reader.read(result, g, own) for result in results]
            for g, own in self.own.items()
        }
        vjps = {g: self.references.gradients(g[1:]) for g in whole}
        apart = self._furthest({g: values[1:] for g, values in whole.items()}, vjps)
        self.right = {g for g, far in apart.items() if far <= FLOAT64_TOLERANCE}
        self._force_others(first)
        self._run_stuck()
        again = self._run_again()
        broken = _find_broken(self.answer, self.gradients)
        observed = []
        for g, own in self.own.items():
            written = {self.script.written_as[number] for number in own.keep}
            beside, among_right = again.get(g, (None, None))
            local: Sequence[Value] = self.local[g]
            if beside and any(value.raised for value in local):
                # A sibling that stands further down is missing, and would hide the line's mistake.
                local = beside
            evidence = GradientEvidence(
                g,
                whole[g][0],
                tuple(whole[g][1:]),
                tuple(local),
                apart=apart.get(g, math.inf),
                reads=_tensors(own.reads),
                writes=_tensors(own.writes),
                channels=_tensors(own.spoilt),
                as_assigned=own.assigned or None,
                siblings=_tensors(own.siblings),
                beside=beside,
                among_right=among_right,
                place=self._place(g, own),
                offences=tuple(flag for number, flag in offences if number in written),
                broken=None if own.writers else broken.get(g),
                is_written=bool(own.writers),
                code=self._code(own),
                keep=frozenset(written),
            )
            observed.append(evidence)
        return observed

    def _forced_run(self, instance: int, statements: Sequence[int]) -> JobRun:
        groups, upstreams = (f"hidden{instance}",), f"upstream{instance}"
        return JobRun(groups, tuple(statements), self.gradients, True, upstreams)

    def _force_others(self, first: Result | Raised) -> None:
        """Make forced runs on the other instances, of the lines on which a verdict depends.

        A mistake shows in the value of most gradients: then the first instance tells enough of the
        lines of a right one, for on a large one, what is almost right is wrong. Where only such
        are left whose value cannot show it, their own lines are tried alone, as their text has
        them; right values cannot come of too few. If they are not right so, everything runs.
        """
        asked = [g for g in self.gradients if g not in self.right or not self._shows(g)]
        every = range(len(self.script.statements))
        tries: list[Sequence[int]] = [every]
        if self.right.issuperset(self.gradients):
            keep = frozenset[int]().union(*(self.own[g].keep for g in asked))
            tries.insert(0, self._statements(keep))
        for needed in tries:
            runs = [self._forced_run(n, needed) for n in self.instances[1:]]
            self._read_forced([first, *self.worker.ask(runs, continues=True)], asked)
            if needed is not every and self._right_alone(asked).issuperset(asked):
                break

    def _read_forced(self, results: Results, gradients: Sequence[str]) -> None:
        """Take down what forced runs show of these gradients."""
        traces = traces_of(results)
        self.worker.script = self.script = self.script.with_unshown(
            (number, name)
            for trace in traces
            for number, name in trace.unshown
            if number in self.script.written_as and name in self.asked
        )
        self.own |= {g: self._own(g, traces, self.script) for g in gradients}
        for g in gradients:
            self.local[g] = [self.reader.read(result, g, self.own[g]) for result in results]

    def _statements(self, keep: Set[int]) -> list[int]:
        """The indices of the outermost statements in which some of these lines stand."""
        return [
            index
            for index, statement in enumerate(self.script.statements)
            if any(line.number in keep for line in statement.lines)
        ]

    def _own(self, gradient: str, traces: Sequence[Trace], script: Script) -> _Own:
        above = self.above[gradient]

        def seen(of: str) -> frozenset[str]:
            found = (getattr(trace, of).get(gradient, frozenset()) for trace in traces)
            return self.asked.intersection(frozenset[str]().union(*found)) - {gradient}

        keep = script.making(gradient, above)
        written = (line.writes for line in script.lines if line.number in keep)
        spoiling = {number for trace in traces for number, g in trace.spoiling if g == gradient}
        return _Own(
            keep,
            script.writing(gradient),
            seen("lent"),
            frozenset[str]().union(*written) & above,
            seen("siblings") - above,
            seen("spoilt"),
            frozenset(spoiling & script.written_as.keys()),
            tuple(Value(t.assigned[gradient]) for t in traces if gradient in t.assigned),
        )

    def _furthest(
        self, values: Mapping[str, Sequence[Value]], right: Mapping[str, Sequence[torch.Tensor]]
    ) -> Mapping[str, float]:
        return furthest(((g, own, right[g]) for g, own in values.items()), self.references)

    def _right_alone(self, gradients: Iterable[str]) -> set[str]:
        """Those whose lines are right by themselves: the VJPs of the upstreams that they read."""
        local = {g: self.local[g] for g in gradients}
        reads = {g: _tensors(self.own[g].reads) for g in local}
        vjps = {g: self.references.local_vjps(g[1:], reads[g]) for g in local}
        return {g for g, far in self._furthest(local, vjps).items() if far <= FLOAT64_TOLERANCE}

    def _shows(self, gradient: str) -> bool:
        """True if a mistake shows in the gradient's value, so that no verdict depends on its lines.

        It does not if that is zero by structure, or made from one that is.
        """
        zero, beside_zero = self.references.zero_by_structure, self.references.beside_zero
        reads = _tensors(self.own[gradient].reads)
        return gradient[1:] not in zero | beside_zero and zero.isdisjoint(reads)

    def _run_stuck(self) -> None:
        """Run everything again where a line may have kept others in its block from running.

        Or in its function: then one that raises is passed over there too.
        """
        stuck = [
            g
            for g, own in self.own.items()
            if g not in self.right and own.writers
            if any(v.tensor is None or v.raised or v.interrupted for v in self.local[g])
            if not any(self._is_its_own(v, own) for v in self.local[g])
        ]
        blocks = (*COMPOUND, ast.FunctionDef)
        if not stuck or not any(isinstance(top, blocks) for top in self.answer.top):
            return
        script = read_script(self.answer, self.asked, is_forgiving=True)
        worker = self.worker.with_script(script)
        every = range(len(script.statements))
        results = worker.ask([self._forced_run(n, every) for n in self.instances])
        traces = traces_of(results)
        reader = _Reader(self.answer, script, worker, self.references)
        for g in stuck:
            own, found = self.own[g], self._own(g, traces, script)
            values = [reader.read(result, g, found) for result in results]
            if all(value.tensor is not None and value.raised is None for value in values):
                self.local[g] = values
                self.own[g] = replace(
                    found,
                    keep=own.keep,
                    writers=own.writers,
                    writes=own.writes,
                    assigned=own.assigned,
                )

    def _is_its_own(self, value: Value, own: _Own) -> bool:
        """True if a line that makes the gradient raised, or reached a limit."""
        places = {*map(self.worker.place_of, own.keep)} - {None}
        raised = [one for one in (value.raised, value.interrupted, value.on_the_way) if one]
        return any(one.by_limit or one.place in places for one in raised)

    def _run_again(self) -> dict[str, tuple[Values | None, Values | None]]:
        """What gradients that are wrong both ways give where what they read fits together.

        Beside their siblings' true values, if they have any, and for one random upstream of the
        loss. Each has a process of its own, which is asked for that gradient only.
        """
        ran = {
            g
            for g, values in self.local.items()
            if g not in self.right and self.own[g].writers
            if not any(value.raised and value.raised.by_limit for value in values)
        }
        found = dict[str, tuple[Values | None, Values | None]]()
        for g in sorted(ran - self._right_alone(ran), key=self.gradients.index):
            own = self.own[g]
            # What is made from this gradient would give it away.
            siblings = {one for one in own.siblings if g not in self.above[one]}
            read = siblings | (own.lent & self.above[g])
            groups = {}
            if siblings:
                groups["beside"] = right_beside(self.references, siblings)
            if not read <= self.right:
                groups["among"] = right_from_loss(self.references, read)
            runs = [
                self._run_on(g, own, name, siblings, n) for name in groups for n in self.instances
            ]
            extra = {f"{name}{n}": some[n] for name, some in groups.items() for n in self.instances}
            results = self.worker.ask(runs, extra) if runs else []
            values = tuple(self.reader.read(result, g, own) for result in results)
            beside = len(self.instances) if siblings else 0
            if values:
                found[g] = values[:beside] or None, values[beside:] or None
        return found

    def _run_on(
        self, gradient: str, own: _Own, group: str, siblings: Set[str], instance: int
    ) -> JobRun:
        here, given = f"hidden{instance}", f"{group}{instance}" if siblings else ""
        statements, want = tuple(self._statements(own.keep)), (gradient,)
        if group == "beside":
            return JobRun((here,), statements, want, True, f"upstream{instance}", given)
        # What arrives in the end is a value of the forward pass: it fits the rest too.
        fitting = f"{group}{instance}"
        return JobRun((here, fitting), statements, want, True, fitting, given)

    def _place(self, gradient: str, own: _Own) -> Place | None:
        """Where the gradient is written last, or else where its blank stands."""
        numbers = {self.script.written_as[number] for number in own.writers | own.spoiling} or {
            number
            for number in self.answer.writing(gradient)
            if is_blank(self.answer.statements[number])
        }
        return self.answer.places[max(numbers)] if numbers else None

    def _code(self, own: _Own) -> tuple[ast.stmt, ...]:
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
        return replace(describe_problem(first, runner.limits, *about), place=self._place(first))

    def _place(self, problem: Problem) -> Place | None:
        """Where a problem is, if there is such a place: the student's process says where."""
        cell, line = problem.cell, problem.line
        if cell in self.lines and line is not None and 0 < line <= self.lines[cell]:
            return Place(cell, line)
        return self.worker.place_of(problem.statement)


def traces_of(results: Results) -> list[Trace]:
    """What was seen in the runs that came to their end."""
    return [one.trace for one in results if isinstance(one, Result) and one.trace]


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
