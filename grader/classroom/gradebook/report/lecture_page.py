"""The page for the projector: the most common mistakes of a class, without names."""

from __future__ import annotations

import re
import unicodedata
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from itertools import groupby

from grader.classroom.gradebook.report.class_summary import ClassSummary
from grader.classroom.gradebook.report.mistakes import Gradient
from grader.classroom.gradebook.report.pages import render
from grader.program.course import HINTS_FILE, BadCourse, Course, Hints, read_hints
from grader.verdict import unpack_map

MOST_MISTAKES = 3

FEWEST_STUDENTS = 2
"""The least number of students with a line, because a line of one student alone is not shown."""

RIGHT = "4"
"""The shade of right values."""

_NARROWEST, _WIDEST = 1.0, 8.0
"""The least and the greatest width of a map, as a multiple of its height."""

_SYMBOLS = {
    "cdot": "·",
    "infty": "∞",
    "partial": "∂",
    "prod": "Π",
    "sum": "Σ",
    "times": "×",
    "to": "→",
}
"""The LaTeX commands that hints use, other than Greek letters."""

_SIZES = "(?:big|Big|bigg|Bigg)[lrm]?|left|right|displaystyle|limits"
_SUPERSCRIPTS = str.maketrans("0123456789-+n", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺ⁿ")
_GROUP = r"(?:\{((?:[^{}]|\{[^{}]*\})*)\}|(\w))"
"""The argument of a command: braces, or one character."""


@dataclass(frozen=True, slots=True)
class Picture:
    """A map to draw: `bars` of equal cells, each a column, a row, a length and a shade.

    A cell is 1 wide and `tall` high. Right cells are left out, because they are the background.
    """

    rows: int
    columns: int
    tall: float
    bars: tuple[tuple[int, int, int, str], ...]


def lecture_page(summary: ClassSummary, course: Course) -> str:
    """Write the page as one file without a script, in letters that the back row can read."""
    common = [m for m in summary.mistakes.most_common() if m.students >= FEWEST_STUDENTS]
    return render(
        "lecture",
        title=course.title,
        mistakes=common[:MOST_MISTAKES],
        summary=summary,
        picture=picture,
        nudge=lambda mistake: mistake.hint or course_hint(course, mistake.gradient),
    )


def picture(packed: str) -> Picture | None:
    """The map of a mistake as bars, or None if there is no map."""
    cells = unpack_map(packed)
    if not cells:
        return None
    rows, columns = len(cells), len(cells[0])
    bars = []
    for row, line in enumerate(cells):
        column = 0
        for shade, run in groupby(line):
            length = len(list(run))
            if shade != RIGHT:
                bars.append((column, row, length, shade))
            column += length
    shape = min(max(columns / rows, _NARROWEST), _WIDEST)
    return Picture(rows, columns, columns / rows / shape, tuple(bars))


def course_hint(course: Course, gradient: Gradient) -> str:
    """The first of the course's own hints for a gradient; "" if it has none."""
    notebook, name = gradient
    for prefix, known in course.gradients(notebook):
        if known == name and (texts := _hints(course).get(prefix, {}).get(name)):
            return plain_mathematics(texts[0])
    return ""


@cache
def _hints(course: Course) -> Hints:
    try:
        return read_hints(course.folder / HINTS_FILE)
    except BadCourse:
        return {}


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
