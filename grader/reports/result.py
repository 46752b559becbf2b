"""The result of one file: a report, or the sentence why there is none."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from grader.answer.parse import AnswerCell, written_names
from grader.verdict import Report, Verdict

if TYPE_CHECKING:
    from grader.submission.read import Submission

UNDEFINED = re.compile(r"name '(\w+)' is not defined")


@dataclass(frozen=True, slots=True)
class Ungraded:
    """A file that was not graded, with the sentence for its owner."""

    path: Path
    sentence: str


Result = Report | Ungraded


def complete(submission: Submission, report: Report) -> Report:
    """The report of a file: with what was flagged as it was read, and what other cells explain."""
    verdicts = tuple(say_where(report.verdicts, submission.others))
    flags = (*submission.flags, *report.flags)
    return replace(report, verdicts=verdicts, flags=flags, path=submission.path)


def say_where(verdicts: Iterable[Verdict], others: Sequence[AnswerCell]) -> Iterator[Verdict]:
    """The verdicts; one without points says which other cell has its line, or the name it lacks.

    Args:
        verdicts: those on the answer cells, which alone are graded.
        others: further code cells; a `grade_id` is what a sentence calls the cell.
    """
    for verdict in verdicts:
        undefined = UNDEFINED.search(verdict.note)
        name = undefined[1] if undefined else verdict.name
        stands = (c for c in others if not verdict.points and name in written_names(c.source))
        cell = next(stands, None)
        if cell is not None:
            where = f"{name} stands in {cell.grade_id}: move it into one."
            note = f"{verdict.note} Only answer cells count, and {where}"
            verdict = replace(verdict, note=note.strip())
        yield verdict
