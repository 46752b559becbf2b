"""Quotes: a student's line as a report shows it."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from functools import lru_cache

from grader.answer.cell_source import parsed
from grader.answer.parse import AnswerCell
from grader.answer.statements import walk_statements
from grader.verdict import Place

LONGEST_QUOTE = 300
"""Characters of a student's line that are worth quoting."""


def quote(place: Place | None, cells: Sequence[AnswerCell]) -> str:
    """Quote the student's line at `place`, dedented and shortened; "" if there is none.

    A statement that begins there and goes on over several lines is quoted as one.
    """
    if place is None:
        return ""
    for cell in cells:
        lines = cell.source.split("\n") if cell.grade_id == place.cell else []
        if 0 < place.line <= len(lines):
            last = _last_lines(cell.source).get(place.line, place.line)
            line = as_quoted("\n".join(lines[place.line - 1 : last]))
            return line if len(line) <= LONGEST_QUOTE else f"{line[: LONGEST_QUOTE - 1]}…"
    return ""


def as_quoted(code: str) -> str:
    """Code on one line."""
    words = " ".join(line.strip() for line in code.split("\n"))
    return words.replace("( ", "(").replace(" )", ")").strip()


@lru_cache(maxsize=64)
def _last_lines(source: str) -> dict[int, int]:
    """The last line of each statement of a cell, by its first; a report quotes several of them."""
    tree = parsed(source)
    ends: dict[int, int] = {}
    # What is not Python has lines, not statements.
    for node in walk_statements(tree.body) if tree else ():
        if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign | ast.Expr):
            last = node.end_lineno or node.lineno
            ends[node.lineno] = max(last, ends.get(node.lineno, last))
    return ends
