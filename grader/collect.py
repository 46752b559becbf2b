"""Collecting evidence: an answer is sliced, run by a worker, read back as values."""

from __future__ import annotations

import ast
from collections.abc import Container, Mapping, Sequence
from dataclasses import replace

from grader.answer import Answer, is_blank
from grader.assigned import first_assignments
from grader.evidence import GradientEvidence, Raised, Value
from grader.references import References
from grader.refusal import Offence
from grader.runner import Limits, Runner
from grader.runs import Lost, Results, Runs
from grader.slices import Slice, slice_gradient
from grader.verdict import Flag, Place
from grader.worker.request import Values
from grader.worker.results import Problem, Result


class Collector:
    """Collects the evidence on one answer.

    Args:
        answer: the parsed answer.
        gradients: the gradients asked for.
        references: the hidden instances with what autograd says of them; none of that is handed
            on, but for gradients that stand beside an upstream and have to fit it.
        values: what the worker runs the answer on, from `grader.run_plan.make_values`.
        runner: a warm worker.
    """

    def __init__(
        self,
        answer: Answer,
        gradients: Sequence[str],
        references: References,
        values: Values,
        runner: Runner,
    ) -> None:
        self._answer = answer
        # A gradient nobody asked for, such as one of a smaller step, is a helper like any name.
        self._asked = frozenset(gradients)
        self._program = references.program
        self._runs = Runs(answer, references, values, runner)
        self._reader = _Reader(answer, runner.limits)
        self._handed_down = {gradient: self._above(gradient) for gradient in gradients}
        self._pieces = {gradient: self._cut(gradient) for gradient in gradients}

    @property
    def flags(self) -> list[Flag]:
        """What a human should know of the running.

        Statements that took the process with them, ran too long, or tried what no gradient needs.
        """
        return list(dict.fromkeys(self._runs.flags))

    def collect(self, offences: Sequence[Offence]) -> list[GradientEvidence]:
        """Run the answer as a whole and gradient by gradient; say what was seen of each.

        Args:
            offences: uses of autograd in the answer.
        """
        assigned = {
            gradient: self._cut(gradient, through_others=False)
            for gradient, piece in self._pieces.items()
            if piece is not None and piece.channels
        }
        whole, alone = self._runs.whole_and_alone(
            tuple(self._pieces), _written(self._pieces), _written(assigned)
        )
        evidence = []
        for gradient, piece in self._pieces.items():
            at_lecture, *hidden = (self._reader.read(run, gradient, piece) for run in whole)
            item = GradientEvidence(
                gradient,
                at_lecture,
                tuple(hidden),
                local=None,
                place=_find_place(self._answer, gradient, piece),
                offences=tuple(
                    offence.flag
                    for offence in offences
                    if piece is None or offence.statement in piece.sure
                ),
                broken=_find_broken(self._answer, gradient, piece),
            )
            if piece is not None:
                local = self._reader.read_all(alone, gradient, piece)
                item = replace(
                    item,
                    local=local or (Value(),) * len(hidden),
                    is_written=bool(piece.writers),
                    reads=_tensors(piece.reads),
                    writes=_tensors(piece.writes),
                    channels=_tensors(piece.channels),
                    as_assigned=self._reader.read_all(alone, gradient, assigned.get(gradient)),
                    siblings=_tensors(self._siblings(gradient, piece)),
                    code=_code(self._answer, gradient, piece),
                )
            evidence.append(item)
        return evidence

    def collect_beside(
        self, evidence: Sequence[GradientEvidence], gradients: Container[str]
    ) -> list[GradientEvidence]:
        """The evidence, with values beside their siblings for the gradients that are named."""
        siblings = {
            gradient: self._siblings(gradient, piece)
            for gradient, piece in self._pieces.items()
            if piece is not None and gradient in gradients
        }
        beside = {
            gradient: piece
            for gradient, others in siblings.items()
            if others and (piece := self._cut(gradient, siblings=others)) != self._pieces[gradient]
        }
        results = self._runs.beside(_written(beside), siblings)
        return [
            replace(item, beside=self._reader.read_all(results, item.name, beside.get(item.name)))
            for item in evidence
        ]

    def _cut(
        self, gradient: str, through_others: bool = True, siblings: frozenset[str] = frozenset()
    ) -> Slice | None:
        # Only what depends on a tensor hands its gradient down to it. Any other gradient that
        # the statements read, such as one assigned early and completed later, is a helper.
        given = self._handed_down[gradient] | siblings
        others = self._asked - {gradient}
        return slice_gradient(self._answer, gradient, given, others, through_others)

    def _above(self, gradient: str) -> frozenset[str]:
        """The gradients asked for that are handed down to one."""
        steps = self._program.descendants(gradient[1:])
        return self._asked.intersection(f"d{step}" for step in steps)

    def _siblings(self, gradient: str, piece: Slice) -> frozenset[str]:
        return piece.reads & self._asked - self._handed_down[gradient]


def _written(pieces: Mapping[str, Slice | None]) -> list[tuple[str, Slice]]:
    """The gradients that some statement writes, with their slices."""
    return [(name, piece) for name, piece in pieces.items() if piece is not None and piece.writers]


class _Reader:
    """Reads one gradient's value out of a run's result."""

    def __init__(self, answer: Answer, limits: Limits) -> None:
        self.answer = answer
        self.limits = limits
        self.lines = {cell.grade_id: cell.source.count("\n") + 1 for cell in answer.cells}
        self.top_of = {
            number: answer.number[top] for top, inside in answer.inside.items() for number in inside
        }

    def read_all(
        self, results: Results, gradient: str, piece: Slice | None
    ) -> tuple[Value, ...] | None:
        """The gradient's values from the runs of a slice; None where it was not run."""
        if piece is None or (gradient, piece) not in results:
            return None
        return tuple(self.read(result, gradient, piece) for result in results[gradient, piece])

    def read(self, result: Result | Lost, gradient: str, piece: Slice | None) -> Value:
        """The gradient's value, with the problem that concerns it."""
        if isinstance(result, Lost):
            nobody_wrote_it = piece is not None and not piece.writers
            return Value() if nobody_wrote_it else Value(raised=result.reason)
        tensor, type_name = result.tensors.get(gradient), result.types.get(gradient)
        raised, beside = self._concerning(result, piece, has_value=tensor is not None)
        return Value(tensor, type_name, raised, beside)

    def _concerning(
        self, result: Result, piece: Slice | None, has_value: bool
    ) -> tuple[Raised | None, Raised | None]:
        """The problem of a statement that writes the gradient, that of one that runs with it.

        Without a value, a problem of any statement that the gradient needs counts as its own.
        """
        if piece is None:
            return (None if has_value else self._first(result.problems)), None
        needed = piece.writers if has_value else piece.keep
        tops = {self.top_of[number] for number in needed}
        beside = [problem for problem in result.problems if problem.statement in tops]
        own = [p for p in beside if not has_value or p.inner is None or p.inner in needed]
        return self._first(own), self._first(beside)

    def _first(self, problems: Sequence[Problem]) -> Raised | None:
        return self._describe(problems[0]) if problems else None

    def _describe(self, problem: Problem) -> Raised:
        message = describe_problem(problem.kind, problem.message, self.limits)
        return Raised(message, self._place(problem))

    def _place(self, problem: Problem) -> Place | None:
        """Where a problem is, if there is such a place: the student's process says where."""
        cell, line = problem.cell, problem.line
        if cell in self.lines and line is not None and 0 < line <= self.lines[cell]:
            return Place(cell, line)
        return self.answer.place_of(problem.statement)


def describe_problem(kind: str, message: str, limits: Limits) -> str:
    """A sentence for the student about a statement that did not run to its end."""
    gigabytes = f"{limits.memory_bytes / 2**30:g} GB"
    match kind:
        case "TimeLimit":
            return f"This line did not end within {limits.statement_seconds:g} seconds."
        case "Gone":
            return f"This line {message}."
        case "SystemExit" | "KeyboardInterrupt":
            return "This line asked Python to stop."
        case "MemoryError":
            return f"This line asked for more memory than the {gigabytes} an answer may use."
        case "RuntimeError" if "allocate memory" in message:
            return f"This line asked for more memory than the {gigabytes} an answer may use."
    said = message.rstrip(".")
    if kind == "NameError" and "name 'd" not in message:
        return (
            f"This line raised {kind}: {said}. Answer cells are run alone: what a line needs"
            " stands in one of them."
        )
    return f"This line raised {kind}: {said}." if said else f"This line raised {kind}."


def _tensors(gradients: frozenset[str]) -> frozenset[str]:
    """The tensors that gradients belong to: "logits" for "dlogits"."""
    return frozenset(gradient[1:] for gradient in gradients)


def _code(answer: Answer, gradient: str, piece: Slice) -> tuple[ast.stmt, ...]:
    """The outermost statements that a gradient is made by, or written by in vain."""
    return tuple(
        statement
        for statement in answer.top
        if (answer.number[statement] in piece.keep or _writes(answer, statement, gradient))
        and answer.number[statement] in answer.live
    )


def _writes(answer: Answer, statement: ast.stmt, gradient: str) -> bool:
    effects = answer.effects[statement]
    return gradient in effects.binds or gradient in effects.mutates


def _find_place(answer: Answer, gradient: str, piece: Slice | None) -> Place | None:
    """Where the gradient is written last, or else where its blank stands."""
    numbers = piece.writers if piece is not None else frozenset()
    if not numbers:
        numbers = frozenset(
            number
            for number, statement in enumerate(answer.statements)
            if gradient in answer.effects[statement].binds
            and (piece is None or is_blank(statement))
        )
    return answer.places[max(numbers)] if numbers else None


def _find_broken(answer: Answer, gradient: str, piece: Slice | None) -> Raised | None:
    """The unreadable cell in which the gradient would have been written."""
    if piece is None or piece.writers:
        return None
    return next(
        (
            broken.reason
            for broken in answer.broken
            if first_assignments(broken.cell.source, [gradient])
        ),
        None,
    )
