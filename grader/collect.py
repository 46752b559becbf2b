"""Collecting evidence: an answer is sliced, run by a worker, read back as values."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import safetensors.torch
from torch import Tensor

from grader.answer import Answer, is_blank
from grader.assigned import first_assignments
from grader.evidence import GradientEvidence, Raised, Value
from grader.execution import LONGEST_MESSAGE, Problem, Request, RunOrder, read_metadata
from grader.instances import Instance
from grader.references import References
from grader.refusal import Offence
from grader.runner import Limits, Runner, WorkerLost
from grader.slices import Slice, slice_gradient
from grader.verdict import Place

UNREADABLE = Raised("What came back from running this answer is not data that can be read.")


@dataclass(frozen=True, slots=True, eq=False)
class _Result:
    """What one run left behind; `lost` is why there is nothing of it."""

    tensors: Mapping[str, Tensor]
    types: Mapping[str, str]
    problems: Sequence[Problem]
    lost: Raised | None = None


def collect_evidence(
    answer: Answer,
    gradients: Sequence[str],
    offences: Sequence[Offence],
    references: References,
    lecture: Instance,
    runner: Runner,
) -> list[GradientEvidence]:
    """Run an answer as a whole and gradient by gradient; say what was seen of each.

    Args:
        answer: the parsed answer.
        gradients: the gradients asked for.
        offences: uses of autograd in the answer.
        references: the hidden instances; only their values and random upstreams are handed on.
        lecture: the float32 instance of the lecture's sizes.
        runner: a warm worker.
    """
    # A gradient nobody asked for, such as one of a smaller step, is a helper like any other name.
    asked = frozenset(gradients)

    def handed_down(gradient: str) -> frozenset[str]:
        steps = references.program.descendants(gradient[1:])
        return asked.intersection(f"d{step}" for step in steps)

    def cut(
        gradient: str, through_others: bool = True, siblings: frozenset[str] = frozenset()
    ) -> Slice | None:
        # Only what depends on a tensor hands its gradient down to it. Any other gradient that
        # the statements read, such as one assigned early and completed later, is a helper.
        given = handed_down(gradient) | siblings
        return slice_gradient(answer, gradient, given, asked - {gradient}, through_others)

    pieces = {gradient: cut(gradient) for gradient in gradients}
    assigned = {
        gradient: cut(gradient, through_others=False)
        for gradient, piece in pieces.items()
        if piece is not None and piece.channels
    }

    siblings = {
        gradient: piece.reads.intersection(gradients) - handed_down(gradient)
        for gradient, piece in pieces.items()
        if piece is not None
    }
    beside = {
        gradient: piece
        for gradient, others in siblings.items()
        if others and (piece := cut(gradient, siblings=others)) != pieces[gradient]
    }
    wanted = [
        (gradient, piece)
        for gradient, piece in (*pieces.items(), *assigned.items(), *beside.items())
        if piece is not None and piece.writers
    ]
    helpers = {(gradient, piece): siblings[gradient] for gradient, piece in beside.items()}
    request = _make_request(answer, gradients, wanted, helpers, references, lecture, runner.limits)
    results = _run(request, runner)
    reader = _Reader(answer, runner.limits)
    count = len(references.hidden)
    local = iter(results[1 + count :])
    alone = {
        (gradient, piece): tuple(reader.read(next(local), gradient, piece) for _ in range(count))
        for gradient, piece in wanted
    }
    evidence = []
    for gradient, piece in pieces.items():
        at_lecture, *hidden = (
            reader.read(result, gradient, piece) for result in results[: 1 + count]
        )
        item = GradientEvidence(
            gradient,
            at_lecture,
            tuple(hidden),
            local=None,
            place=_find_place(answer, gradient, piece),
            offences=tuple(
                offence.flag
                for offence in offences
                if piece is None or offence.statement in piece.sure
            ),
            broken=_find_broken(answer, gradient, piece),
        )
        if piece is not None:
            own, other = assigned.get(gradient), beside.get(gradient)
            item = replace(
                item,
                local=alone.get((gradient, piece), (Value(),) * count),
                is_written=bool(piece.writers),
                reads=_tensors(piece.reads),
                writes=_tensors(piece.writes),
                channels=_tensors(piece.channels),
                as_assigned=None if own is None else alone.get((gradient, own)),
                siblings=_tensors(siblings[gradient]),
                code=_code(answer, gradient, piece),
                beside=None if other is None else alone.get((gradient, other)),
            )
        evidence.append(item)
    return evidence


def _make_request(
    answer: Answer,
    gradients: Sequence[str],
    wanted: Sequence[tuple[str, Slice]],
    helpers: Mapping[tuple[str, Slice | None], frozenset[str]],
    references: References,
    lecture: Instance,
    limits: Limits,
) -> Request:
    """The whole answer on every instance, then each gradient's statements on random upstreams."""
    hidden = [reference.instance for reference in references.hidden]
    groups = {"lecture": _tensors_of(lecture)}
    for number, reference in enumerate(references.hidden):
        groups[f"hidden{number}"] = _tensors_of(reference.instance)
        groups[f"upstream{number}"] = {name: reference.cotangents[name[1:]] for name in gradients}
        for (gradient, _), siblings in helpers.items():
            # What is no upstream of a gradient has to fit those that are.
            groups[f"beside-{gradient}{number}"] = {
                name: reference.local_vjp(name[1:], frozenset(references.program.readers(name[1:])))
                for name in siblings
            }
    everything = tuple(gradients)
    runs = [RunOrder(("lecture",), answer.live, everything, (), False, _constants(lecture))]
    runs += [
        RunOrder((f"hidden{number}",), answer.live, everything, (), True, _constants(instance))
        for number, instance in enumerate(hidden)
    ]
    runs += [
        RunOrder(
            (f"hidden{number}", f"upstream{number}")
            + ((f"beside-{gradient}{number}",) if (gradient, piece) in helpers else ()),
            piece.keep,
            (gradient,),
            tuple(piece.fixed),
            True,
            _constants(instance),
        )
        for gradient, piece in wanted
        for number, instance in enumerate(hidden)
    ]
    return Request(
        tuple((cell.grade_id, cell.source) for cell in answer.cells),
        groups,
        tuple(runs),
        limits.statement_seconds,
        limits.total_seconds,
        limits.memory_bytes,
    )


def _run(request: Request, runner: Runner) -> list[_Result]:
    """Every run's result, in order; those that never came say why."""
    if not request.cells:
        return [_Result({}, {}, ()) for _ in request.runs]
    try:
        blobs = runner.run(request.pack())
    except WorkerLost as lost:
        blobs, reason = {}, Raised(str(lost))
    else:
        reason = Raised(
            f"The answer as a whole did not end within {request.total_seconds:g} seconds, or"
            " ended the process that ran it again and again; this gradient was not reached."
        )
    return [
        _parse_result(blobs[number]) if number in blobs else _Result({}, {}, (), reason)
        for number in range(len(request.runs))
    ]


def _parse_result(blob: bytes) -> _Result:
    """Read what came from the student's process: anything may be in it."""
    try:
        metadata = read_metadata(blob)
        return _Result(
            safetensors.torch.load(blob),
            {name: str(kind)[:LONGEST_MESSAGE] for name, kind in metadata["types"].items()},
            [_parse_problem(problem) for problem in metadata["problems"]],
        )
    # There is no end to the ways in which a blob can be broken.
    except Exception:
        return _Result({}, {}, (), UNREADABLE)


def _parse_problem(data: Mapping[str, Any]) -> Problem:
    """A problem as the worker's JSON has it.

    Raises:
        TypeError: it is not one.
    """
    match data:
        case {
            "statement": int(statement),
            "kind": str(kind),
            "message": str(message),
            "cell": str() | None as cell,
            "line": int() | None as line,
            "inner": int() | None as inner,
        }:
            message = message[:LONGEST_MESSAGE]
            return Problem(statement, kind[:LONGEST_MESSAGE], message, cell, line, inner)
    raise TypeError(f"not a problem: {data!r:.200}")


class _Reader:
    """Reads one gradient's value out of a run's result."""

    def __init__(self, answer: Answer, limits: Limits) -> None:
        self.limits = limits
        self.top_of: dict[int, int] = {}
        outermost = set(map(id, answer.top))
        top = 0
        for number, statement in enumerate(answer.statements):
            top = number if id(statement) in outermost else top
            self.top_of[number] = top

    def read(self, result: _Result, gradient: str, piece: Slice | None) -> Value:
        """The gradient's value, with the problem that concerns it."""
        if result.lost is not None:
            nobody_wrote_it = piece is not None and not piece.writers
            return Value() if nobody_wrote_it else Value(raised=result.lost)
        tensor, type_name = result.tensors.get(gradient), result.types.get(gradient)
        raised, beside = self._concerning(result, piece, has_value=tensor is not None)
        return Value(tensor, type_name, raised, beside)

    def _concerning(
        self, result: _Result, piece: Slice | None, has_value: bool
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
        known = problem.cell is not None and problem.line is not None
        place = Place(problem.cell or "", problem.line or 0) if known else None
        return Raised(describe_problem(problem.kind, problem.message, self.limits), place)


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


def _tensors_of(instance: Instance) -> dict[str, Tensor]:
    return {name: v for name, v in instance.values.items() if isinstance(v, Tensor)}


def _constants(instance: Instance) -> dict[str, float]:
    numbers = {name: v for name, v in instance.values.items() if isinstance(v, int | float)}
    return {**instance.sizes, **numbers}


def _tensors(gradients: frozenset[str]) -> frozenset[str]:
    """The tensors that gradients belong to: "logits" for "dlogits"."""
    return frozenset(gradient[1:] for gradient in gradients)


def _code(answer: Answer, gradient: str, piece: Slice) -> tuple[str, ...]:
    """The text of the outermost statements that a gradient is made by, or written by in vain."""
    return tuple(
        ast.unparse(statement)
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
