"""What became of one file handed in: a report, or the sentence why there is none."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from grader.statements import BLOCKS, PARTS
from grader.verdict import Place, Report

if TYPE_CHECKING:
    from grader.answer import AnswerCell

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


@dataclass(frozen=True, slots=True)
class Ungraded:
    """A file that was not graded, with the sentence for its owner."""

    path: Path
    sentence: str


def quote(place: Place | None, cells: Sequence[AnswerCell]) -> str:
    """The student's line at `place`, dedented and not too long; "" where it is not known.

    A statement that begins there and goes on over several lines is quoted as one.
    """
    if place is None:
        return ""
    for cell in cells:
        lines = cell.source.split("\n")
        if cell.grade_id == place.cell and 0 < place.line <= len(lines):
            last = _last_line(cell.source, place.line)
            words = " ".join(line.strip() for line in lines[place.line - 1 : last])
            line = words.replace("( ", "(").replace(" )", ")").strip()
            return line if len(line) <= LONGEST_QUOTE else f"{line[: LONGEST_QUOTE - 1]}…"
    return ""


def _last_line(source: str, first: int) -> int:
    """Where the statement ends that begins on a line; the line itself where none does."""
    return _last_lines(source).get(first, first)


@lru_cache(maxsize=64)
def _last_lines(source: str) -> dict[int, int]:
    """First and last lines of the statements of a cell; a report quotes several of them."""
    try:
        with warnings.catch_warnings():
            # A student's "\\d" is for the student's own Python to complain about.
            warnings.simplefilter("ignore")
            tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return {}  # a cell that is not Python has lines, but no statements
    ends: dict[int, int] = {}
    pending: list[ast.AST] = [*tree.body]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign | ast.Expr):
            last = node.end_lineno or node.lineno
            ends[node.lineno] = max(last, ends.get(node.lineno, last))
        else:  # expressions are many, and no statement stands in one
            pending += (inner for name in (*BLOCKS, *PARTS) for inner in getattr(node, name, ()))
    return ends


Result = Graded | Ungraded
