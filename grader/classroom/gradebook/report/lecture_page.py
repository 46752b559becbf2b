"""The page to project: the most common mistakes of a class, without a name."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from itertools import groupby

from grader.classroom.gradebook.report.class_summary import ClassSummary
from grader.classroom.gradebook.report.mistakes import Gradient, Specimen
from grader.classroom.gradebook.report.pages import render
from grader.classroom.gradebook.report.plain_mathematics import plain_mathematics
from grader.program.course import Course
from grader.program.course_file import BadCourse
from grader.program.hints import read_levels
from grader.verdict import unpack_map

MOST_MISTAKES = 3

FEWEST_STUDENTS = 2
"""What one student alone wrote is nobody else's to see."""

RIGHT = "4"
"""The shade of what is right."""

_NARROWEST, _WIDEST = 1.0, 8.0
"""How many times as wide as high a map is drawn, at least and at most."""


@dataclass(frozen=True, slots=True)
class Picture:
    """A map to draw: `bars` of equal cells, each a column, a row, a length and a shade.

    A cell is 1 wide and `tall` high. Right cells are left out: they are the background.
    """

    rows: int
    columns: int
    tall: float
    bars: tuple[tuple[int, int, int, str], ...]


def lecture_page(summary: ClassSummary, course: Course) -> str:
    """The page: one file, without a script, in letters for the back row."""
    common = [m for m in summary.mistakes.most_common() if m.students >= FEWEST_STUDENTS]
    return render(
        "lecture",
        title=course.title,
        mistakes=common[:MOST_MISTAKES],
        summary=summary,
        picture=picture,
        nudge=lambda mistake: mistake.hint or course_hint(course, mistake.gradient),
    )


def picture(specimen: Specimen) -> Picture | None:
    """The map of a mistake as bars; None where there is none."""
    cells = unpack_map(specimen.map)
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
    """The first of the course's own hints for a gradient; "" where it has none."""
    notebook, name = gradient
    with suppress(BadCourse, OSError):
        levels = read_levels(course)
        for prefix, known in course.gradients(notebook):
            if known == name and (texts := levels.get(prefix, {}).get(name)):
                return plain_mathematics(texts[0])
    return ""
