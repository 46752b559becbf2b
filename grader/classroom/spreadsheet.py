"""Cells that a spreadsheet would take for formulas, escaped and read back."""

from __future__ import annotations

import re

# A spreadsheet runs a cell that begins with = + - @ (or their wide forms), or with a tab or a
# carriage return before one; an apostrophe in front makes it text, and Excel does not show it.
# Where the list separator is a semicolon, what follows one in the middle of a cell becomes a
# cell of its own, quoted or not. An apostrophe that was there before gets another one.
_FORMULA = re.compile(r"(^|;)(\s*)(?='*[=+\-@＝＋－＠])")
_ESCAPED = re.compile(r"(^|;)(\s*)'(?='*[=+\-@＝＋－＠])")
_NUMBER = re.compile(r"[+-]?(\d+([.,]\d+)?%?)?")


def escaped(cell: str) -> str:
    """A cell that no spreadsheet runs; numbers stay.

    >>> escaped("=1+1"), escaped("+ada"), escaped("-5"), escaped("Ada;=1")
    ("'=1+1", "'+ada", '-5', "Ada;'=1")
    """
    return cell if _NUMBER.fullmatch(cell) else _FORMULA.sub(r"\1\2'", cell)


def unescaped(cell: str) -> str:
    """What `escaped` was given."""
    return _ESCAPED.sub(r"\1\2", cell)
