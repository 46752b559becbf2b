"""What a spreadsheet asks of a CSV file: its form, and cells that it does not take for formulas."""

from __future__ import annotations

import re
from dataclasses import dataclass

# A spreadsheet runs a cell that begins with = + - @ (or their wide forms), or with a tab or a
# carriage return before one; an apostrophe in front makes it text, and Excel does not show it.
# Where the list separator is a semicolon, what follows one in the middle of a cell becomes a
# cell of its own, quoted or not. An apostrophe that was there before gets another one.
_FORMULA = re.compile(r"(^|;)(\s*)(?='*[=+\-@＝＋－＠])")
_ESCAPED = re.compile(r"(^|;)(\s*)'(?='*[=+\-@＝＋－＠])")
_NUMBER = re.compile(r"[+-]?(\d+([.,]\d+)?%?)?")


@dataclass(frozen=True, slots=True)
class CsvForm:
    """How a CSV file is written; `sep` is Excel's "sep=;" line, or ""."""

    delimiter: str = ","
    encoding: str = "utf-8"
    newline: str = "\n"
    sep: str = ""


FOR_EXCEL = CsvForm(encoding="utf-8-sig", newline="\r\n")
"""UTF-8 with a byte-order mark and lines ending in CR LF: without the mark Excel reads a CSV file
in the machine's own old encoding, and "Zoë" becomes "ZoÃ«"."""


def escaped(cell: str) -> str:
    """A cell that no spreadsheet runs; numbers stay.

    >>> escaped("=1+1"), escaped("+ada"), escaped("-5"), escaped("Ada;=1")
    ("'=1+1", "'+ada", '-5', "Ada;'=1")
    """
    return cell if _NUMBER.fullmatch(cell) else _FORMULA.sub(r"\1\2'", cell)


def beginning_escaped(cell: str) -> str:
    """A cell of trusted words, in which nobody hides a formula behind a semicolon.

    >>> beginning_escaped("-1 for style"), beginning_escaped("Good; -1 for style")
    ("'-1 for style", 'Good; -1 for style')
    """
    found = None if _NUMBER.fullmatch(cell) else _FORMULA.match(cell)
    return f"{found[0]}'{cell[found.end() :]}" if found else cell


def unescaped(cell: str) -> str:
    """What `escaped` was given."""
    return _ESCAPED.sub(r"\1\2", cell)
