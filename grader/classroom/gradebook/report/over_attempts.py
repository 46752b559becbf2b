"""Points over submissions: where a notebook was handed in several times, what each earned."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from grader.classroom.gradebook.attempts import in_order
from grader.classroom.gradebook.rubric import points_text
from grader.classroom.gradebook.table import Cell, Column, FileResult, Table

WIDTH, HEIGHT, RIM = 440, 168, 8
"""The drawing's size, and what is left free around its points, so that none is cut."""

LEFT, BELOW = 36, 18
"""What the numbers of the axes need."""

MOST_NUMBERS = 12
"""Submissions that have their number below the drawing."""

MOST_LINES = 300
"""Students with a line of their own in the class's drawing; all are counted."""


@dataclass(frozen=True, slots=True)
class Dot:
    """A file with what it earned, and where that stands in the drawing."""

    file: FileResult
    points: Fraction
    x: float
    y: float


@dataclass(frozen=True, slots=True)
class Axes:
    """The numbers around a drawing: points with their heights, submissions with their places."""

    heights: tuple[tuple[str, float], ...]
    places: tuple[tuple[int, float], ...]
    left, width, height = LEFT, WIDTH, HEIGHT


@dataclass(frozen=True, slots=True)
class ClassTrails:
    """A notebook's lines, one a student, with how many gained, lost or stayed from first to last.

    `most` are the submissions of the student with most of them, by which the drawing is divided.
    """

    column: Column
    paths: tuple[str, ...]
    most: int
    axes: Axes
    gained: int
    lost: int
    same: int

    @property
    def students(self) -> int:
        """Who handed the notebook in several times."""
        return self.gained + self.lost + self.same


def trail(cell: Cell, most: int = 0) -> list[Dot]:
    """The files of a cell that were graded, the oldest first; none where there is only one.

    `most` is how many submissions the drawing has room for: those of this cell, by default.
    """
    if cell.counts is None or not cell.superseded:
        return []
    files = in_order((cell.counts, *cell.superseded))
    most = max(most, len(files))
    top = cell.column.max_points or Fraction(1)
    return [
        Dot(file, earned, _place(number, most), _height(earned / top))
        for number, file in enumerate(files, start=1)
        for earned in [cell.earns[file.id]]
    ]


def axes_of(column: Column, most: int) -> Axes:
    """What stands around a drawing of so many submissions."""
    step = -(-most // MOST_NUMBERS)
    shares = (Fraction(0), Fraction(1, 2), Fraction(1))
    return Axes(
        tuple((points_text(column.max_points * share), _height(share)) for share in shares),
        tuple((number, _place(number, most)) for number in range(1, most + 1, step)),
    )


def _place(number: int, most: int) -> float:
    return LEFT + RIM + (WIDTH - LEFT - 2 * RIM) * (number - 1) / (most - 1)


def _height(share: Fraction) -> float:
    bottom = HEIGHT - BELOW - RIM
    return bottom - (bottom - RIM) * min(max(float(share), 0.0), 1.0)


def path_of(dots: Sequence[Dot]) -> str:
    """The line through the points, as an SVG path."""
    return "M" + "L".join(f"{dot.x:.1f},{dot.y:.1f}" for dot in dots)


def class_trails(table: Table) -> list[ClassTrails]:
    """The drawing of each notebook that somebody handed in several times."""
    found = []
    for number, column in enumerate(table.columns):
        cells = [row.cells[number] for row in table.rows]
        most = max((len(cell.superseded) + 1 for cell in cells if cell.counts), default=0)
        trails = [dots for cell in cells if (dots := trail(cell, most))]
        if not trails:
            continue
        ends = [(dots[0].points, dots[-1].points) for dots in trails]
        gained, lost = (sum(sign * (b - a) > 0 for a, b in ends) for sign in (1, -1))
        paths = tuple(map(path_of, trails[:MOST_LINES]))
        found.append(
            ClassTrails(
                column, paths, most, axes_of(column, most), gained, lost, len(ends) - gained - lost
            )
        )
    return found
