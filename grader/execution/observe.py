"""Observing: an answer runs on every instance, as it is and forced.

The worker gets one job: the lecture's run, a plain run on each hidden instance, and a forced run on
the first. The same process then makes the other forced runs, of the lines on which a verdict
depends. Two things run again: statements that an exception may have kept from running, and a
gradient that is wrong both ways, this time with everything it reads in agreement.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import Any

import torch

from grader.answer.assigned import first_assignments
from grader.answer.parse import Answer, Raised, is_blank
from grader.answer.script import Script, read_script
from grader.answer.statements import COMPOUND
from grader.execution.ask import Allowance, Results, Worker, handed_down
from grader.execution.evidence import Observed, Value, as_cmp_takes_it, furthest
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
) -> tuple[list[Observed], Set[int], list[Flag]]:
    """Run an answer, and return what was observed of each gradient.

    Args:
        answer: the parsed answer.
        gradients: the gradients asked for.
        references: the instances, and autograd's results for them. The worker gets none of these
            results, except the true siblings of a wrong gradient for random upstreams, in a process
            that is asked for that gradient only.
        runner: a warm worker.
        offences: uses of autograd in the answer's text, with the number of the statement.
        allowance: the time that is left.

    Returns:
        The observations of each gradient, the statements that may make a gradient, and flags for a
        human, about statements that ended the process, ran too long or tried something forbidden.
    """
    observer = _Observer(answer, gradients, references, runner, allowance)
    observed = observer.observe(offences)
    making = set[int]().union(*(answer.inside[top] for item in observed for top in item.code))
    return observed, making, list(dict.fromkeys(observer.worker.flags))


@dataclass(frozen=True, slots=True)
class _Lines:
    """The statements that make a gradient, by their numbers in the script.

    `writers` are those that assign it, and `spoiling` those that change it while writing another.
    """

    keep: frozenset[int]
    writers: frozenset[int]
    spoiling: frozenset[int]


Values = tuple[Value, ...]
"""One forced run on each hidden instance."""


class _Observer:
    """Observes one answer.

    `lines` has the statements that make each gradient, `items` what has been observed of it so far.
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
        self.lines = dict[str, _Lines]()
        self.items = {g: Observed(g, Value(), (), ()) for g in self.gradients}

    def observe(self, offences: Sequence[tuple[int, Flag]]) -> list[Observed]:
        """Make the runs, and read what they show about each gradient."""
        every = tuple(range(len(self.script.statements)))
        double = self.references.lecture.dtype is torch.float64
        lecture = JobRun(("lecture",), every, self.gradients, double)
        plain = [JobRun((f"hidden{n}",), every, self.gradients, True) for n in self.instances]
        *results, first = self.worker.ask([lecture, *plain, self._forced_run(0, every)])
        self._read_forced([first], self.gradients)
        hidden = {}
        for g, lines in self.lines.items():
            at_lecture, *hidden[g] = (self.reader.read(result, g, lines) for result in results)
            self._note(g, lecture=at_lecture, hidden=tuple(hidden[g]))
        right = {g: self.references.gradients(g[1:]) for g in hidden}
        for g, apart in self._furthest(hidden, right).items():
            self._note(g, apart=apart)
        self._force_others(first)
        self._run_stuck()
        self._run_again()
        broken = _find_broken(self.answer, self.gradients)
        for g, lines in self.lines.items():
            item = self.items[g]
            written = frozenset(self.script.written_as[number] for number in lines.keep)
            if item.beside and any(value.raised for value in item.local):
                # A sibling that stands further down is missing, and would hide the line's mistake.
                self._note(g, local=item.beside)
            self._note(
                g,
                place=self._place(g, lines),
                offences=tuple(flag for number, flag in offences if number in written),
                broken=None if lines.writers else broken.get(g),
                is_written=bool(lines.writers),
                code=self._code(lines),
                keep=written,
            )
        return list(self.items.values())

    def _note(self, gradient: str, **fields: Any) -> None:
        for name, value in fields.items():  # not by `replace`, which takes longer than all else
            setattr(self.items[gradient], name, value)

    def _forced_run(self, instance: int, statements: Sequence[int]) -> JobRun:
        groups, upstreams = (f"hidden{instance}",), f"upstream{instance}"
        return JobRun(groups, tuple(statements), self.gradients, True, upstreams)

    def _force_others(self, first: Result | Raised) -> None:
        """Make forced runs on the other instances, of the lines on which a verdict depends.

        Most mistakes show in the gradient's value, so if that is right, the first instance tells
        enough about its lines. If the only gradients left are those whose value cannot show a
        mistake, their own lines are tried alone, as the text has them, because too few lines cannot
        give right values. If that does not give right values, everything runs.
        """
        asked = [g for g, item in self.items.items() if not item.is_right or not self._shows(item)]
        every = range(len(self.script.statements))
        tries: list[Sequence[int]] = [every]
        if all(item.is_right for item in self.items.values()):
            keep = frozenset[int]().union(*(self.lines[g].keep for g in asked))
            tries.insert(0, self._statements(keep))
        for needed in tries:
            runs = [self._forced_run(n, needed) for n in self.instances[1:]]
            self._read_forced([first, *self.worker.ask(runs, continues=True)], asked)
            if needed is not every and self._right_alone(asked).issuperset(asked):
                break

    def _read_forced(self, results: Results, gradients: Sequence[str]) -> None:
        """Record what forced runs show about these gradients."""
        traces = traces_of(results)
        self.worker.script = self.script = self.script.with_unshown(
            (number, name)
            for trace in traces
            for number, name in trace.unshown
            if number in self.script.written_as and name in self.asked
        )
        for g in gradients:
            self.lines[g], shown = self._read(g, results, self.script, self.reader)
            self._note(g, **shown)

    def _statements(self, keep: Set[int]) -> list[int]:
        """Find the indices of the outermost statements that contain some of these lines."""
        return [
            index
            for index, statement in enumerate(self.script.statements)
            if any(line.number in keep for line in statement.lines)
        ]

    def _read(
        self, gradient: str, results: Results, script: Script, reader: _Reader
    ) -> tuple[_Lines, dict[str, Any]]:
        """Record the lines of a gradient, and what forced runs show about it."""
        above, traces = self.above[gradient], traces_of(results)

        def seen(of: str) -> frozenset[str]:
            found = (getattr(trace, of).get(gradient, frozenset()) for trace in traces)
            return self.asked.intersection(frozenset[str]().union(*found)) - {gradient}

        keep = script.making(gradient, above)
        spoiling = {number for trace in traces for number, g in trace.spoiling if g == gradient}
        spoiling &= script.written_as.keys()
        lines = _Lines(keep, script.writing(gradient), frozenset(spoiling))
        written = (line.writes for line in script.lines if line.number in keep)
        siblings = seen("siblings") - above
        assigned = tuple(
            reader.value(gradient, trace.assigned) for trace in traces if gradient in trace.assigned
        )
        return lines, {
            "local": tuple(reader.read(result, gradient, lines) for result in results),
            "reads": _tensors(seen("lent") | siblings),
            "writes": _tensors(frozenset[str]().union(*written) & above),
            "siblings": _tensors(siblings),
            "channels": _tensors(seen("spoilt")),
            "as_assigned": assigned or None,
        }

    def _furthest(
        self, values: Mapping[str, Sequence[Value]], right: Mapping[str, Sequence[torch.Tensor]]
    ) -> Mapping[str, float]:
        return furthest(((g, own, right[g]) for g, own in values.items()), self.references)

    def _right_alone(self, gradients: Iterable[str]) -> set[str]:
        """Find the gradients whose own lines are right: VJPs of the upstreams that they read."""
        items = {g: self.items[g] for g in gradients}
        vjps = {g: self.references.local_vjps(g[1:], item.reads) for g, item in items.items()}
        apart = self._furthest({g: item.local for g, item in items.items()}, vjps)
        return {g for g, far in apart.items() if far <= FLOAT64_TOLERANCE}

    def _shows(self, item: Observed) -> bool:
        """Say whether a mistake would show in the gradient's value, so its lines need no check.

        It would not if the gradient is zero by structure, or made from one that is.
        """
        zero, beside_zero = self.references.zero_by_structure, self.references.beside_zero
        return item.name[1:] not in zero | beside_zero and zero.isdisjoint(item.reads)

    def _run_stuck(self) -> None:
        """Run everything again if a line may have kept others in its block from running.

        The same holds for a function, in which lines that raise are then skipped too.
        """
        stuck = [
            g
            for g, item in self.items.items()
            if not item.is_right and self.lines[g].writers
            if any(v.tensor is None or v.raised or v.interrupted for v in item.local)
            if not self._stopped_itself(item.local, self.lines[g])
        ]
        blocks = (*COMPOUND, ast.FunctionDef)
        if not stuck or not any(isinstance(top, blocks) for top in self.answer.top):
            return
        script = read_script(self.answer, self.asked, is_forgiving=True)
        worker = self.worker.with_script(script)
        every = range(len(script.statements))
        results = worker.ask([self._forced_run(n, every) for n in self.instances])
        reader = _Reader(self.answer, script, worker, self.references)
        for g in stuck:
            lines, shown = self._read(g, results, script, reader)
            if all(value.tensor is not None and value.raised is None for value in shown["local"]):
                self.lines[g] = replace(self.lines[g], spoiling=lines.spoiling)
                self._note(
                    g, **{name: shown[name] for name in ("local", "reads", "siblings", "channels")}
                )

    def _stopped_itself(self, values: Sequence[Value], lines: _Lines) -> bool:
        """Say whether a line that makes the gradient raised an exception or reached a limit."""
        places = {*map(self.worker.place_of, lines.keep)} - {None}
        raised = (one for v in values for one in (v.raised, v.interrupted, v.on_the_way) if one)
        return any(one.by_limit or one.place in places for one in raised)

    def _run_again(self) -> None:
        """Run gradients that are wrong both ways again, with everything they read in agreement.

        They run once with their siblings' true values, if they have siblings, and once for one
        random upstream of the loss. Each run has its own process, which is asked for that gradient
        only.
        """
        ran = {
            g
            for g, item in self.items.items()
            if not item.is_right and self.lines[g].writers
            if not any(value.raised and value.raised.by_limit for value in item.local)
        }
        for g in sorted(ran - self._right_alone(ran), key=self.gradients.index):
            item, lines = self.items[g], self.lines[g]
            # What is made from this gradient would give it away.
            siblings = {d for t in item.siblings if g not in self.above[d := f"d{t}"]}
            read = siblings | (self.above[g] & {f"d{t}" for t in item.reads})
            groups = {}
            if siblings:
                groups["beside"] = right_beside(self.references, siblings)
            if not all(self.items[one].is_right for one in read):
                groups["among"] = right_from_loss(self.references, read)
            if not groups:
                continue
            runs = [
                self._run_on(g, lines, name, siblings, n) for name in groups for n in self.instances
            ]
            extra = {f"{name}{n}": some[n] for name, some in groups.items() for n in self.instances}
            values = [self.reader.read(one, g, lines) for one in self.worker.ask(runs, extra)]
            beside = len(self.instances) if siblings else 0
            among_right = tuple(values[beside:]) or None
            self._note(g, beside=tuple(values[:beside]) or None, among_right=among_right)

    def _run_on(
        self, gradient: str, lines: _Lines, group: str, siblings: Set[str], instance: int
    ) -> JobRun:
        here, given = f"hidden{instance}", f"{group}{instance}" if siblings else ""
        statements, want = tuple(self._statements(lines.keep)), (gradient,)
        if group == "beside":
            return JobRun((here,), statements, want, True, f"upstream{instance}", given)
        # What arrives in the end is a value of the forward pass: it fits the rest too.
        fitting = f"{group}{instance}"
        return JobRun((here, fitting), statements, want, True, fitting, given)

    def _place(self, gradient: str, lines: _Lines) -> Place | None:
        """Find the place where the gradient is written last or, if it never is, its blank."""
        numbers = {self.script.written_as[number] for number in lines.writers | lines.spoiling} or {
            number
            for number in self.answer.writing(gradient)
            if is_blank(self.answer.statements[number])
        }
        return self.answer.places[max(numbers)] if numbers else None

    def _code(self, lines: _Lines) -> tuple[ast.stmt, ...]:
        """List the outermost statements that make a gradient, or write it in vain."""
        answer = self.answer
        numbers = {self.script.written_as[number] for number in lines.keep | lines.writers}
        tops = (top for top, inside in answer.inside.items() if not inside.isdisjoint(numbers))
        return tuple(tops)


class _Reader:
    """Reads one gradient's value from the result of a run."""

    def __init__(
        self, answer: Answer, script: Script, worker: Worker, references: References
    ) -> None:
        self.worker, self.references = worker, references
        program = references.program
        self.gradients = program.gradient_names
        self.known = [*program.names, *sorted(self.gradients), *sorted(answer.bound), "torch", "F"]
        self.lines = {cell.grade_id: cell.source.count("\n") + 1 for cell in answer.cells}
        self.top_of = {
            line.number: statement.number
            for statement in script.statements
            for line in statement.lines
        }

    def read(self, result: Result | Raised, gradient: str, lines: _Lines) -> Value:
        """Read the gradient's value, with the problem that concerns it."""
        if isinstance(result, Raised):
            return Value(raised=result) if lines.writers else Value()
        value, type_name = self.value(gradient, result.tensors), result.types.get(gradient)
        concerning = self._concerning(result, lines, value.tensor is not None)
        return Value(value.tensor, type_name, *concerning, value.shape)

    def value(self, gradient: str, tensors: Mapping[str, torch.Tensor]) -> Value:
        """Return the tensor in the shape in which it is compared."""
        tensor = tensors.get(gradient)
        if tensor is None or not self.references.as_lecture:
            return Value(tensor)
        shape = self.references.lecture.values[gradient[1:]].shape
        taken = as_cmp_takes_it(tensor, shape)
        return Value(taken, shape=None if taken is tensor else tuple(tensor.shape))

    def _concerning(
        self, result: Result, lines: _Lines, has_value: bool
    ) -> tuple[Raised | None, Raised | None, Raised | None]:
        """Find the problems of statements that write the gradient, stand beside it, or are needed.

        If there is no value, a problem of any needed statement counts as the gradient's own. If
        there is one, a refusal of autograd does not count, because the value decides.
        """
        if not result.problems:
            return None, None, None
        kept, writing = ({self.top_of[n] for n in each} for each in (lines.keep, lines.writers))
        beside = [problem for problem in result.problems if problem.statement in kept]
        mine, needed = beside, list[Problem]()
        if has_value:
            mine = [p for p in mine if REFUSED not in p.message and "NoneType" not in p.message]
            needed = [p for p in mine if p.inner in lines.keep]
            mine = [p for p in mine if p.statement in writing]
            mine = [p for p in mine if p.inner is None or p.inner in lines.writers]
        return self._first(mine), self._first(beside), self._first(needed)

    def _first(self, problems: Sequence[Problem]) -> Raised | None:
        if not problems:
            return None
        first, runner = problems[0], self.worker.runner
        about = self.gradients, self.known, runner.unbound
        return replace(describe_problem(first, runner.limits, *about), place=self._place(first))

    def _place(self, problem: Problem) -> Place | None:
        """Find the place of a problem, if it exists, because the student's process names it."""
        cell, line = problem.cell, problem.line
        if cell in self.lines and line is not None and 0 < line <= self.lines[cell]:
            return Place(cell, line)
        return self.worker.place_of(problem.statement)


def traces_of(results: Results) -> list[Trace]:
    """Keep the observations of the runs that came to their end."""
    return [one.trace for one in results if isinstance(one, Result) and one.trace]


def _tensors(gradients: Set[str]) -> frozenset[str]:
    """Name the tensors that gradients belong to, such as "logits" for "dlogits"."""
    return frozenset(gradient[1:] for gradient in gradients)


def _find_broken(answer: Answer, gradients: tuple[str, ...]) -> Mapping[str, Raised]:
    """Say, for each gradient that an unreadable cell would assign, why the cell is unreadable."""
    if answer.unread is not None:
        return dict.fromkeys(gradients, answer.unread)
    found: dict[str, Raised] = {}
    for cell, reason in answer.broken.items():
        for gradient in first_assignments(cell.source, gradients):
            found.setdefault(gradient, reason)
    return found
