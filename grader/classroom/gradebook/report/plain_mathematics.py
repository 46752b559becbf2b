"""Markdown with its mathematics in Unicode, for where nothing sets LaTeX."""

from __future__ import annotations

import re
import unicodedata
from contextlib import suppress

_SYMBOLS = {
    "cdot": "·",
    "infty": "∞",
    "partial": "∂",
    "prod": "Π",
    "sum": "Σ",
    "times": "×",
    "to": "→",
}
"""What is no Greek letter, as far as a hint may need it."""

_SIZES = "(?:big|Big|bigg|Bigg)[lrm]?|left|right|displaystyle|limits"
_SUPERSCRIPTS = str.maketrans("0123456789-+n", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺ⁿ")
_GROUP = r"(?:\{((?:[^{}]|\{[^{}]*\})*)\}|(\w))"
"""What a command takes: braces, or one character."""


def plain_mathematics(markdown: str) -> str:
    r"""Markdown with the LaTeX between its dollar signs spelled out.

    >>> plain_mathematics(r"times $-\tfrac12\,(v + \varepsilon)^{-3/2}$, not $x^{-1}$")
    'times -1/2 (v + ε)^(-3/2), not x⁻¹'
    """
    return re.sub(r"\$\$?([^$]+)\$\$?", lambda match: _spell_out(match[1]), markdown)


def _spell_out(latex: str) -> str:
    text = re.sub(rf"\\(?:{_SIZES})(?![A-Za-z])\.?", "", latex)
    text = re.sub(r"\\(?:mathrm|text|mathbf|operatorname)\{([^{}]*)\}", r"\1", text)
    text = re.sub(rf"\\hat\s*{_GROUP}", lambda match: f"{match[1] or match[2]}\u0302", text)
    text = re.sub(rf"\\sqrt\s*{_GROUP}", lambda match: f"√{_in_brackets(_group(match))}", text)
    text = re.sub(rf"\\[td]?frac\s*{_GROUP}\s*{_GROUP}", _fraction, text)
    text = re.sub(r"\\[,;:! ]|~", " ", text)
    text = re.sub(r"\\([A-Za-z]+) ?", _symbol, text)
    text = re.sub(r"\^(?:\{([^{}]*)\}|(\w))", _power, text)
    text = text.replace("\\", "").replace("{", "").replace("}", "")
    return " ".join(text.split())


def _symbol(match: re.Match[str]) -> str:
    name, space = match[1], " " if match[0].endswith(" ") else ""
    with suppress(KeyError):
        letter = name.removeprefix("var").replace("lambda", "lamda")  # as Unicode spells it
        return unicodedata.lookup(f"GREEK SMALL LETTER {letter}") + space
    return _SYMBOLS.get(name, name) + space


def _group(match: re.Match[str]) -> str:
    return str(match[1] or match[2])


def _fraction(match: re.Match[str]) -> str:
    above, below = match[1] or match[2], match[3] or match[4]
    next_to = " " if match.string[match.end() :].lstrip().startswith("(") else ""
    return f"{_in_brackets(above)}/{_in_brackets(below)}{next_to}"


def _in_brackets(term: str) -> str:
    return term if re.fullmatch(r"\\?\w+", term) else f"({term})"


def _power(match: re.Match[str]) -> str:
    power = _group(match)
    if re.fullmatch(r"[-+]?[0-9n]+", power):
        return power.translate(_SUPERSCRIPTS)
    return f"^{power}" if len(power) == 1 else f"^({power})"
