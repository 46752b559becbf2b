"""The result of one file: a report, or a sentence that says why there is none."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from grader.answer.assigned import first_assignments
from grader.answer.parse import AnswerCell, live_names, written_names
from grader.printable import printable
from grader.verdict import GUESSES, RAISED, Code, Reason, Report, Verdict, because

if TYPE_CHECKING:
    from grader.program.exercises import Exercise
    from grader.submission.read import Submission


@dataclass(frozen=True, slots=True)
class Ungraded:
    """A file that was not graded, with a sentence for its owner."""

    path: Path
    sentence: str


Result = Report | Ungraded


def names(results: Sequence[Result]) -> list[str]:
    """The name of each result in an overview: its file, and its exercise if a file has several."""
    files = [result.path for result in results]
    return [
        f"{printable(str(result.path))}, {result.notebook}"
        if isinstance(result, Report) and files.count(result.path) > 1
        else printable(str(result.path))
        for result in results
    ]


def complete(submission: Submission, report: Report, exercises: Sequence[Exercise] = ()) -> Report:
    """Complete a file's report: add the flags from reading it, and what its other cells explain.

    `exercises` are those of the notebook.
    """
    read = submission.cells, submission.others
    verdicts = tuple(say_where(report.verdicts, *read, exercises))
    flags = (*submission.flags, *report.flags)
    return replace(report, verdicts=verdicts, flags=flags, path=submission.path)


def say_where(
    verdicts: Iterable[Verdict],
    answers: Sequence[AnswerCell],
    others: Sequence[AnswerCell],
    exercises: Sequence[Exercise] = (),
) -> Iterator[Verdict]:
    """Let each verdict without points say which other cell has its line, or the name it lacks.

    Args:
        verdicts: the verdicts on the answer cells, which alone are graded.
        answers: the answer cells. If one of them assigns a gradient, no other cell is named.
        others: the other code cells; sentences call a cell by its `grade_id`.
        exercises: those of the notebook. A name that one of them lacks may belong to another.
    """
    for verdict in verdicts:
        undefined = _undefined(verdict)
        name = undefined or verdict.name
        elsewhere = () if verdict.points else others
        stands = (cell.grade_id for cell in elsewhere if name in written_names(cell.source))
        if any(reason.code == "called-here" for reason in verdict.reasons):
            yield verdict
            continue
        found = _whose(name, verdict.name, exercises) if undefined else None
        cell = next(stands, "")
        if found is None and cell and not any(_assigns(one, name) for one in answers):
            # A cell that came with the notebook is not the student's to move.
            code: Code = "named-in-another" if undefined else "in-another-cell"
            found = because(code, name=name, cell=cell)
        if found is not None:
            plain = (reason for reason in verdict.reasons if reason.code not in GUESSES)
            verdict = replace(verdict, reasons=(*plain, found))
        yield verdict


def _undefined(verdict: Verdict) -> str:
    """The name that was never bound, if this is why there is no value."""
    raised = (reason for reason in verdict.reasons if reason.code in RAISED)
    return next((str(reason["unbound"]) for reason in raised), "")


def _whose(name: str, gradient: str, exercises: Sequence[Exercise]) -> Reason | None:
    """The reason if an exercise lacks a name that another of the notebook has."""
    has = {exercise.prefix: _names(exercise) for exercise in exercises}
    own = next((one.prefix for one in exercises if gradient in one.gradients), None)
    holder = next((prefix for prefix, names in has.items() if name in names), None)
    if own is None or holder is None or name in has[own]:
        return None
    alike = (one for one in has[own] if one.lower() == name.lower() and one != gradient)
    here = next(alike, None)
    if here is None:
        return because("belongs-to", name=name, holder=holder, own=own)
    return because("known-here-as", name=name, holder=holder, here=here)


@cache
def _names(exercise: Exercise) -> tuple[str, ...]:
    """The names of an exercise's tensors and of their gradients."""
    # Imported here, because a command starts its worker before it imports torch.
    from grader.program.parse import parse_program

    program = parse_program(exercise.forward)
    return *program.names, *sorted(program.gradient_names)


def _assigns(answer: AnswerCell, name: str) -> bool:
    """True if an answer cell assigns a name, or would if Python could read it."""
    names = live_names(answer.source)
    return name in (first_assignments(answer.source, (name,)) if names is None else names)
