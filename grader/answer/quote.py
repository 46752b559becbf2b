"""Quotes: a student's line as a report shows it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from grader.answer.parse import AnswerCell
from grader.verdict import Place

LONGEST_QUOTE = 300
"""Characters of a student's line that are worth quoting."""


def quote(place: Place | None, cells: Sequence[AnswerCell], last_lines: Mapping[Place, int]) -> str:
    """Quote the student's line at `place`, dedented and shortened; "" if there is none.

    A statement that begins there and goes on over several lines, to the one that `last_lines` has,
    is quoted as one.
    """
    if place is None:
        return ""
    for cell in cells:
        lines = cell.source.split("\n") if cell.grade_id == place.cell else []
        if 0 < place.line <= len(lines):
            last = last_lines.get(place, place.line)
            line = as_quoted("\n".join(lines[place.line - 1 : last]))
            return line if len(line) <= LONGEST_QUOTE else f"{line[: LONGEST_QUOTE - 1]}…"
    return ""


def as_quoted(code: str) -> str:
    """Code on one line."""
    words = " ".join(line.strip() for line in code.split("\n"))
    return words.replace("( ", "(").replace(" )", ")").strip()
