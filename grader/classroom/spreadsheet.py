"""The form of a CSV file for a spreadsheet, and cells that it does not read as formulas."""

from __future__ import annotations

import re
from dataclasses import dataclass

# A spreadsheet runs a cell that begins with = + - @ (or their wide forms), perhaps after a tab or a
# carriage return. An apostrophe in front makes the cell text, and Excel does not show it. If the
# list separator is a semicolon, the part of a cell after a semicolon becomes a cell of its own,
# quoted or not. If the cell already begins with an apostrophe, it gets a second one.
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
"""UTF-8 with a byte-order mark and CR LF line ends. Without the mark, Excel reads a CSV file in the
machine's own old encoding, and "Zoë" becomes "ZoÃ«"."""


def escaped(cell: str) -> str:
    """Escape a cell so that a spreadsheet does not run it; numbers stay as they are.

    >>> escaped("=1+1"), escaped("+ada"), escaped("-5"), escaped("Ada;=1")
    ("'=1+1", "'+ada", '-5', "Ada;'=1")
    """
    return cell if _NUMBER.fullmatch(cell) else _FORMULA.sub(r"\1\2'", cell)


def beginning_escaped(cell: str) -> str:
    """Escape a cell of trusted words, in which a semicolon cannot hide a formula.

    >>> beginning_escaped("-1 for style"), beginning_escaped("Good; -1 for style")
    ("'-1 for style", 'Good; -1 for style')
    """
    found = None if _NUMBER.fullmatch(cell) else _FORMULA.match(cell)
    return f"{found[0]}'{cell[found.end() :]}" if found else cell


def unescaped(cell: str) -> str:
    """Undo `escaped`."""
    return _ESCAPED.sub(r"\1\2", cell)
