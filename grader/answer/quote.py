"""Quotes: how a report shows a student's line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from grader.answer.parse import AnswerCell
from grader.verdict import Place

LONGEST_QUOTE = 300
"""The most characters of a student's line that are quoted."""


def quote(place: Place | None, cells: Sequence[AnswerCell], last_lines: Mapping[Place, int]) -> str:
    """Quote the student's line at `place`, dedented and shortened; "" if there is no such line.

    A statement that begins at `place` and continues over several lines, up to the one that
    `last_lines` gives, is quoted as one line.
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
    """Put code on one line."""
    words = " ".join(line.strip() for line in code.split("\n"))
    return words.replace("( ", "(").replace(" )", ")").strip()
