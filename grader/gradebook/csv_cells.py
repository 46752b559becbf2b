"""Cells of a CSV file that no spreadsheet takes for a formula."""

from __future__ import annotations

import re

from grader.printable import printable, visible

# A spreadsheet runs a cell that begins with = + - @ (or their wide forms), or with a tab or a
# carriage return before one; an apostrophe in front makes it text, and Excel does not show it.
# Where the list separator is a semicolon, what follows one in the middle of a cell becomes a
# cell of its own, quoted or not.
_FORMULA = re.compile(r"(^|;)(\s*)(?=[=+\-@＝＋－＠])")
_NUMBER = re.compile(r"[+-]?\d+([.,]\d+)?%?")
_HARMLESS_ID = re.compile(r"[+@-][\w.@+-]*")


def text_cell(text: str) -> str:
    r"""A text from a student's hand: one line, nothing invisible, no formula.

    >>> text_cell("=HYPERLINK(\"http://evil\")"), text_cell("Ada;=1+1")
    ('\'=HYPERLINK("http://evil")', "Ada;'=1+1")
    """
    text = printable(text)
    return text if _NUMBER.fullmatch(text) else _FORMULA.sub(r"\1\2'", text)


def id_cell(text: str) -> str:
    """An id, an email or another cell by which a learning platform finds its student again.

    It has to come back as it went in, so "-1234", "+46701234567" and "@ada" stay: without
    brackets, bars, quotes or spaces they can call nothing, whatever a spreadsheet makes of them.
    An id that begins with "=", or could be a call, is no platform's but made up by a student, and
    becomes text; so do control characters, which no platform's ids have.

    >>> id_cell("-1234"), id_cell("@SUM(1)"), id_cell("=A1")
    ('-1234', "'@SUM(1)", "'=A1")
    """
    text = visible(text)
    return text if _HARMLESS_ID.fullmatch(text) else _FORMULA.sub(r"\1\2'", text)
