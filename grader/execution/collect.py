"""Collecting evidence: an answer is sliced, run by a worker, read back as values."""

from __future__ import annotations

import ast
import math
from collections.abc import Mapping, Sequence, Set
from dataclasses import replace
from functools import lru_cache

from grader.answer.assigned import first_assignments
from grader.answer.parse import Answer, Raised, is_blank
from grader.answer.slices import Slice, slice_gradient
from grader.execution.evidence import GradientEvidence, Value, furthest
from grader.execution.problems import describe_problem, ran_out_of_memory
from grader.execution.runner import AnyRunner
from grader.execution.runs import Piece, Results, Runs, right_beside, right_from_loss, values_for
from grader.program.compare import FLOAT64_TOLERANCE
from grader.program.forward_program import ForwardProgram
from grader.program.references import References
from grader.verdict import Flag, Place
from grader.worker.request import Group
from grader.worker.results import REFUSED, Problem, Result


def collect(
    answer: Answer,
    gradients: Sequence[str],
    references: References,
    runner: AnyRunner,
    offences: Sequence[tuple[int, Flag]],
) -> tuple[list[GradientEvidence], Set[int], list[Flag]]:
    """Run an answer as a whole and gradient by gradient; say what was seen of each.

    Args:
        answer: the parsed answer.
        gradients: the gradients asked for.
        references: the instances with what autograd says of them. None of that is handed on, but
            what a wrong gradient reads, times a random number, to a process that is not asked for
            it any more.
        runner: a warm worker.
        offences: what the answer says of autograd, with the number of the statement.

    Returns:
        The evidence on each gradient, the statements that may make one, and what a human should
        know: which took the process with them, ran too long, or tried what no gradient needs.
    """
    runs = Runs(answer, references, values_for(references, tuple(gradients)), runner)
    collector = _Collector(answer, gradients, references, runs)
    evidence = collector.collect(offences)
    # What was not seen to run may have done anything.
    making = set(range(len(answer.statements))) - collector.seen
    making.update(*(answer.inside[top] for item in evidence for top in item.code))
    return evidence, making, list(dict.fromkeys(runs.flags))


class _Collector:
    """Collects the evidence on one answer."""

    def __init__(
        self, answer: Answer, gradients: Sequence[str], references: References, runs: Runs
    ) -> None:
        self._answer = answer
        # A gradient nobody asked for, such as one of a smaller step, is a helper like any name.
        self._asked = frozenset(gradients)
        self._references = references
        self._runs = runs
        self._reader = _Reader(answer, runs.runner, references.program)
        self._handed_down = _handed_down(references.program, self._asked)
        self._pieces = {gradient: self._cut(gradient) for gradient in gradients}

    def collect(self, offences: Sequence[tuple[int, Flag]]) -> list[GradientEvidence]:
        """Make the runs, and read each gradient's values out of them."""
        # Where the answer is right and its text shows all it does, this is the only request.
        wanted = {piece: self._instances(piece) for piece in self._wanted()}
        whole, seen, alone = self._runs.whole_and_alone(tuple(self._pieces), wanted)
        self.seen = frozenset(seen)
        as_it_ran = self._answer.as_it_ran(seen)
        if as_it_ran is not self._answer:
            self._answer = as_it_ran
            self._pieces = {gradient: self._cut(gradient) for gradient in self._pieces}
        values = {
            gradient: [self._reader.read(run, gradient, piece) for run in whole]
            for gradient, piece in self._pieces.items()
        }
        far = self._furthest(values)
        right = {gradient for gradient, apart in far.items() if apart <= FLOAT64_TOLERANCE}
        alone = self._with_the_rest(alone, right)
        local = {g: self._reader.read_all(alone, g, piece) for g, piece in self._pieces.items()}
        among_right = self._among_right(right, local)
        broken = _find_broken(self._answer, tuple(self._pieces))
        evidence = []
        for gradient, piece in self._pieces.items():
            at_lecture, *hidden = values[gradient]
            is_right = gradient in right
            item = GradientEvidence(
                gradient,
                at_lecture,
                tuple(hidden),
                local=local[gradient] or (Value(),) * len(hidden),
                apart=far.get(gradient, math.inf),
                reads=_tensors(piece.reads),
                writes=_tensors(piece.writes),
                channels=_tensors(piece.channels),
                as_assigned=self._reader.read_all(alone, gradient, self._assigned.get(gradient)),
                siblings=_tensors(self._siblings(gradient, piece)),
                beside=None if is_right else self._beside(gradient, piece),
                among_right=among_right.get(gradient),
                place=_find_place(self._answer, gradient, piece),
                offences=tuple(flag for number, flag in offences if number in piece.sure),
                broken=None if piece.writers else broken.get(gradient),
                is_written=bool(piece.writers),
                code=self._code(gradient, piece),
                keep=piece.keep,
                fixed=piece.fixed,
            )
            evidence.append(item)
        return evidence

    def _wanted(self) -> list[Piece]:
        """What to run of each gradient: its slice, and where it differs, the one as assigned."""
        self._assigned = {
            gradient: self._cut(gradient, through_others=False)
            for gradient, piece in self._pieces.items()
            if piece.channels
        }
        pieces = [*self._pieces.items(), *self._assigned.items()]
        return list(dict.fromkeys(wanted for wanted in pieces if wanted[1].writers))

    def _instances(self, piece: Piece, is_right: bool = True) -> range:
        """Those on which a gradient's own statements are run: a right value may need but one.

        Whether they are right as well, where no verdict depends on it, is told by the first.
        """
        gradient, own = piece
        zero, beside_zero = self._references.zero_by_structure, self._references.beside_zero
        shows = gradient[1:] not in zero | beside_zero and zero.isdisjoint(_tensors(own.reads))
        return self._runs.instances[:1] if is_right and shows else self._runs.instances

    def _furthest(self, values: Mapping[str, Sequence[Value]]) -> Mapping[str, float]:
        """How far each gradient is from autograd's on the hidden instance where it is furthest."""
        gradients = self._references.gradients
        found = ((name, own[1:], gradients(name[1:])) for name, own in values.items())
        return furthest(found, self._references)

    def _with_the_rest(self, alone: Results, right: Set[str]) -> Results:
        """What came of gradients' own statements, with what is still to be run of them."""
        missing = {}
        for piece in self._wanted():
            due = self._instances(piece, piece[0] in right)[len(alone.get(piece, ())) :]
            if due:
                missing[piece] = due
        more = self._runs.alone(missing, continues=True)
        return {**alone, **{piece: [*alone.get(piece, ()), *more[piece]] for piece in more}}

    def _among_right(
        self, right: Set[str], local: Mapping[str, tuple[Value, ...] | None]
    ) -> Mapping[str, tuple[Value, ...]]:
        """What wrong gradients' own statements give where all that they read is right."""
        siblings = {
            gradient: frozenset(
                # What is made from this gradient would give it away.
                other
                for other in self._siblings(gradient, self._pieces[gradient])
                if gradient not in self._handed_down[other]
            )
            for gradient in self._doubtful(right, local)
        }
        found = dict[str, tuple[Value, ...]]()
        # A process is given nothing that it is asked for later: those that read only what is above
        # them go first, from the loss down; each that has siblings has a process of its own.
        for gradient in sorted(siblings, key=lambda gradient: bool(siblings[gradient])):
            piece = self._cut(gradient, siblings=siblings[gradient])
            read = piece.reads & (self._handed_down[gradient] | siblings[gradient])
            if piece.writers and not read <= right:
                beside = right_from_loss(self._references, read)
                continues = not siblings[gradient]
                found[gradient] = self._run_beside((gradient, piece), beside, continues)
        return found

    def _doubtful(
        self, right: Set[str], local: Mapping[str, tuple[Value, ...] | None]
    ) -> list[str]:
        """Wrong gradients whose own statements are not plainly right, from the loss down.

        Without those that ran into a limit.
        """
        vjps = self._references.local_vjps
        ran = {
            gradient: values
            for gradient, values in local.items()
            if gradient not in right and values is not None
            if not any(value.raised and value.raised.by_limit for value in values)
        }
        alone = (
            (gradient, values, vjps(gradient[1:], _tensors(self._pieces[gradient].reads)))
            for gradient, values in ran.items()
        )
        far = furthest(alone, self._references)
        plain = {gradient for gradient, apart in far.items() if apart <= FLOAT64_TOLERANCE}
        doubtful = ran.keys() - plain
        order = (f"d{step}" for step in reversed(self._references.program.names))
        return [gradient for gradient in order if gradient in doubtful]

    def _beside(self, gradient: str, piece: Slice) -> tuple[Value, ...] | None:
        """What a wrong gradient's own statements give beside its siblings' right values."""
        siblings = self._siblings(gradient, piece)
        beside = self._cut(gradient, siblings=siblings)
        if beside == piece or not beside.writers:
            return None
        return self._run_beside((gradient, beside), right_beside(self._references, siblings))

    def _run_beside(
        self, piece: Piece, beside: Sequence[Group], continues: bool = False
    ) -> tuple[Value, ...]:
        """What a gradient's own statements give on every instance beside these right values."""
        results = self._runs.alone({piece: self._runs.instances}, beside, continues)
        return tuple(self._reader.read(result, *piece) for result in results[piece])

    def _cut(
        self, gradient: str, through_others: bool = True, siblings: frozenset[str] = frozenset()
    ) -> Slice:
        # Only what depends on a tensor hands its gradient down to it. Any other gradient that
        # the statements read, such as one assigned early and completed later, is a helper.
        given = self._handed_down[gradient] | siblings
        others = self._asked - {gradient}
        piece = slice_gradient(self._answer, gradient, given, others, through_others)
        # Where every right value is zero, only unspoilt upstreams can show that a line is wrong.
        is_zero = gradient[1:] in self._references.zero_by_structure
        return replace(piece, fixed=piece.fixed | (piece.channels & given)) if is_zero else piece

    def _code(self, gradient: str, piece: Slice) -> tuple[ast.stmt, ...]:
        """The outermost statements that a gradient is made by, or written by in vain."""
        answer = self._answer
        tops = {self._reader.top_of[number] for number in piece.keep | answer.writing(gradient)}
        return tuple(answer.statements[number] for number in sorted(tops & answer.live))

    def _siblings(self, gradient: str, piece: Slice) -> frozenset[str]:
        return piece.reads & self._asked - self._handed_down[gradient]


@lru_cache(maxsize=64)
def _handed_down(program: ForwardProgram, asked: frozenset[str]) -> Mapping[str, frozenset[str]]:
    """For each gradient asked for, those others that are handed down to it."""
    return {
        gradient: asked.intersection(f"d{step}" for step in program.descendants(gradient[1:]))
        for gradient in asked
    }


class _Reader:
    """Reads one gradient's value out of a run's result."""

    def __init__(self, answer: Answer, runner: AnyRunner, program: ForwardProgram) -> None:
        self.answer = answer
        self.runner = runner
        self.gradients = program.gradient_names
        self.known = [*program.names, *sorted(self.gradients), *sorted(answer.bound), "torch", "F"]
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

    def read(self, result: Result | Raised, gradient: str, piece: Slice) -> Value:
        """The gradient's value, with the problem that concerns it."""
        if isinstance(result, Raised):
            return Value(raised=result) if piece.writers else Value()
        tensor, type_name = result.tensors.get(gradient), result.types.get(gradient)
        return Value(tensor, type_name, *self._concerning(result, piece, tensor is not None))

    def _concerning(
        self, result: Result, piece: Slice, has_value: bool
    ) -> tuple[Raised | None, Raised | None, Raised | None]:
        """The problem of a statement that writes the gradient, of one beside it, of one it needs.

        Without a value, a problem of any statement that the gradient needs counts as its own. With
        one, that autograd did not answer does not: if that left only half a value, it is wrong.
        """
        if not result.problems:
            return None, None, None
        kept, writing = ({self.top_of[n] for n in each} for each in (piece.keep, piece.writers))
        beside = [problem for problem in result.problems if problem.statement in kept]
        own, needed = beside, list[Problem]()
        if has_value:
            own = [p for p in own if REFUSED not in p.message and "NoneType" not in p.message]
            needed = [p for p in own if p.inner in piece.keep]
            own = [p for p in own if p.statement in writing]
            own = [p for p in own if p.inner is None or p.inner in piece.writers]
        return self._first(own), self._first(beside), self._first(needed)

    def _first(self, problems: Sequence[Problem]) -> Raised | None:
        if not problems:
            return None
        first = problems[0]
        about = self.gradients, self.known, self.runner.unbound
        message = describe_problem(first, self.runner.limits, *about)
        by_limit = first.kind in ("TimeLimit", "Gone") or ran_out_of_memory(first)
        return Raised(message, self._place(first), by_limit)

    def _place(self, problem: Problem) -> Place | None:
        """Where a problem is, if there is such a place: the student's process says where."""
        cell, line = problem.cell, problem.line
        if cell in self.lines and line is not None and 0 < line <= self.lines[cell]:
            return Place(cell, line)
        return self.answer.place_of(problem.statement)


def _tensors(gradients: frozenset[str]) -> frozenset[str]:
    """The tensors that gradients belong to: "logits" for "dlogits"."""
    return frozenset(gradient[1:] for gradient in gradients)


def _find_place(answer: Answer, gradient: str, piece: Slice) -> Place | None:
    """Where the gradient is written last, or else where its blank stands."""
    numbers = piece.writers or {
        number for number in answer.writing(gradient) if is_blank(answer.statements[number])
    }
    return answer.places[max(numbers)] if numbers else None


def _find_broken(answer: Answer, gradients: tuple[str, ...]) -> Mapping[str, Raised]:
    """Why nothing was read of each gradient that an unreadable cell would have assigned."""
    if answer.unread is not None:
        return dict.fromkeys(gradients, answer.unread)
    found: dict[str, Raised] = {}
    for cell, reason in answer.broken.items():
        for gradient in first_assignments(cell.source, gradients):
            found.setdefault(gradient, reason)
    return found
