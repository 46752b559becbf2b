"""The result of one file: a report, or the sentence why there is none."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from grader.answer.parse import parsed
from grader.submission.elsewhere import say_where
from grader.verdict import Place, Report

if TYPE_CHECKING:
    from grader.answer.parse import AnswerCell
    from grader.submission.read import Submission

LONGEST_QUOTE = 300
"""Characters of a student's line that are worth quoting."""


@dataclass(frozen=True, slots=True)
class Graded:
    """A notebook with its report; `cells` let a report quote the student's own lines."""

    path: Path
    report: Report
    cells: Sequence[AnswerCell] = ()

    def line_at(self, place: Place | None) -> str:
        """The student's line at `place`, as `quote` gives it."""
        return quote(place, self.cells)


def graded(submission: Submission, report: Report) -> Graded:
    """A notebook's result, with what was flagged as it was read, and what other cells explain."""
    verdicts = tuple(say_where(report.verdicts, submission.others))
    report = Report(report.notebook, verdicts, (*submission.flags, *report.flags))
    return Graded(submission.path, report, submission.cells)


@dataclass(frozen=True, slots=True)
class Ungraded:
    """A file that was not graded, with the sentence for its owner."""

    path: Path
    sentence: str


def quote(place: Place | None, cells: Sequence[AnswerCell]) -> str:
    """Quote the student's line at `place`, dedented and shortened; "" if there is none.

    A statement that begins there and goes on over several lines is quoted as one.
    """
    if place is None:
        return ""
    for cell in cells:
        lines = cell.source.split("\n")
        if cell.grade_id == place.cell and 0 < place.line <= len(lines):
            last = _last_lines(cell.source).get(place.line, place.line)
            words = " ".join(line.strip() for line in lines[place.line - 1 : last])
            line = words.replace("( ", "(").replace(" )", ")").strip()
            return line if len(line) <= LONGEST_QUOTE else f"{line[: LONGEST_QUOTE - 1]}…"
    return ""


@lru_cache(maxsize=64)
def _last_lines(source: str) -> dict[int, int]:
    """The last line of each statement of a cell, by its first; a report quotes several of them."""
    tree = parsed(source)
    ends: dict[int, int] = {}
    for node in ast.walk(tree) if tree else ():  # what is not Python has lines, not statements
        if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign | ast.Expr):
            last = node.end_lineno or node.lineno
            ends[node.lineno] = max(last, ends.get(node.lineno, last))
    return ends


Result = Graded | Ungraded
