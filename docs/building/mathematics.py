"""Formulas in a page, turned from LaTeX into MathML while the site is built."""

from __future__ import annotations

import re

from bs4 import BeautifulSoup, Tag
from bs4.element import NavigableString
from math_core import LatexError, LatexToMathML

_FORMULA = re.compile(r"\$\$(?P<display>.+?)\$\$|\$(?P<inline>.+?)\$", re.DOTALL)
_CONVERTER = LatexToMathML()
_VERBATIM = {"code", "pre", "script", "style", "math"}


class UnreadableFormula(ValueError):
    """A formula that cannot be set; the message is a sentence for the maintainer."""


def set_formulas(soup: BeautifulSoup) -> None:
    """Replace each `$...$` and `$$...$$` outside code by MathML, in place.

    MathML because browsers set it themselves: no script, no font, nothing to fetch.

    Raises:
        UnreadableFormula: something is no formula, or a dollar sign has no partner.
    """
    for text in list(soup.find_all(string=lambda string: "$" in string)):
        if not any(parent.name in _VERBATIM for parent in text.parents):
            text.replace_with(*_pieces(soup, str(text)))


def as_mathml(formula: str, *, display: bool) -> str:
    """The `<math>` element of a formula in LaTeX.

    >>> as_mathml("x^2", display=False).startswith('<math')
    True
    """
    try:
        mathml: str = _CONVERTER.convert_with_local_state(formula, displaystyle=display)
    except LatexError as error:
        raise UnreadableFormula(f"This formula cannot be set: {formula} ({error}).") from error
    return mathml


def _pieces(soup: BeautifulSoup, text: str) -> list[NavigableString | Tag]:
    pieces: list[NavigableString | Tag] = []
    end = 0
    for match in _FORMULA.finditer(text):
        pieces.append(NavigableString(text[end : match.start()]))
        pieces.append(_formula(soup, match))
        end = match.end()
    rest = text[end:]
    if "$" in rest:
        raise UnreadableFormula(f"A dollar sign begins a formula that does not end: {rest!r}.")
    return [*pieces, NavigableString(rest)]


def _formula(soup: BeautifulSoup, match: re.Match[str]) -> Tag:
    display = match["display"] is not None
    mathml = as_mathml(match["display"] if display else match["inline"], display=display)
    # A wide formula scrolls by itself; a span, since it may stand in a paragraph.
    frame = soup.new_tag("span", attrs={"class": "formula-block" if display else "formula"})
    frame.append(BeautifulSoup(mathml, "html.parser"))
    return frame
