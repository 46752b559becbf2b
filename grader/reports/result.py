"""The result of one file: a report, or the sentence why there is none."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from grader.answer.assigned import first_assignments
from grader.answer.parse import AnswerCell, live_names, written_names
from grader.close_names import MEANT, UNDEFINED
from grader.verdict import Report, Verdict

if TYPE_CHECKING:
    from grader.program.exercises import Exercise
    from grader.submission.read import Submission


@dataclass(frozen=True, slots=True)
class Ungraded:
    """A file that was not graded, with the sentence for its owner."""

    path: Path
    sentence: str


Result = Report | Ungraded


def complete(submission: Submission, report: Report, exercises: Sequence[Exercise] = ()) -> Report:
    """The report of a file: with what was flagged as it was read, and what other cells explain.

    `exercises` are the notebook's.
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
    """The verdicts; one without points says which other cell has its line, or the name it lacks.

    Args:
        verdicts: those on the answer cells, which alone are graded.
        answers: these cells; of what one of them assigns no other cell is named.
        others: further code cells; a `grade_id` is what a sentence calls the cell.
        exercises: the notebook's; a name that one of them lacks may be another's.
    """
    for verdict in verdicts:
        undefined = UNDEFINED.search(verdict.note)
        name = undefined[1] if undefined else verdict.name
        elsewhere = () if verdict.points else others
        stands = (cell for cell in elsewhere if name in written_names(cell.source))
        plain = MEANT.sub("", verdict.note)
        if undefined and (whose := _whose(name, verdict.name, exercises)):
            verdict = replace(verdict, note=f"{plain} {whose}")
        elif (cell := next(stands, None)) and not any(_assigns(one, name) for one in answers):
            # A cell that came with the notebook is not the student's to move.
            what = "move it into one."
            if undefined:
                what = f"if you wrote it, {what[:-1]}; else another name belongs here."
            note = f"{plain} Only answer cells count, and {name} stands in {cell.grade_id}: {what}"
            verdict = replace(verdict, note=note.strip())
        yield verdict


def _whose(name: str, gradient: str, exercises: Sequence[Exercise]) -> str:
    """What is said of a name that an exercise lacks and another of the notebook has."""
    has = {exercise.prefix: _names(exercise) for exercise in exercises}
    own = next((one.prefix for one in exercises if gradient in one.gradients), None)
    holder = next((prefix for prefix, names in has.items() if name in names), None)
    if own is None or holder is None or name in has[own]:
        return ""
    alike = (one for one in has[own] if one.lower() == name.lower() and one != gradient)
    here = next(alike, None)
    called = f"here it is `{here}`" if here else f"{own} does not know it"
    return f"`{name}` belongs to {holder}; {called}."


@cache
def _names(exercise: Exercise) -> tuple[str, ...]:
    """The names of an exercise's tensors and of their gradients."""
    # Here, not above: a command's worker is to be started before torch is imported.
    from grader.program.parse import parse_program

    program = parse_program(exercise.forward)
    return *program.names, *sorted(program.gradient_names)


def _assigns(answer: AnswerCell, name: str) -> bool:
    """True if an answer cell assigns a name, or would if Python could read it."""
    names = live_names(answer.source)
    return name in (first_assignments(answer.source, (name,)) if names is None else names)
