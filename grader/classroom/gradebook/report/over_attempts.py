"""Points over submissions: where a notebook was handed in several times, what each earned."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from grader.classroom.gradebook.attempts import in_order
from grader.classroom.gradebook.table import Cell, Column, FileResult, Table

WIDTH, HEIGHT, RIM = 440, 150, 8
"""The drawing's size, and what is left free around its points, so that none is cut."""

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
class ClassTrails:
    """A notebook's lines, one a student, with how many gained, lost or stayed from first to last.

    `most` are the submissions of the student with most of them, by which the drawing is divided.
    """

    column: Column
    paths: tuple[str, ...]
    most: int
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
    steps = max(most, len(files)) - 1
    top = cell.column.max_points or Fraction(1)
    dots = []
    for number, file in enumerate(files):
        share = min(max(float(cell.earns[file.id] / top), 0.0), 1.0)
        x = RIM + (WIDTH - 2 * RIM) * number / steps
        dots.append(Dot(file, cell.earns[file.id], x, HEIGHT - RIM - (HEIGHT - 2 * RIM) * share))
    return dots


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
        found.append(ClassTrails(column, paths, most, gained, lost, len(ends) - gained - lost))
    return found
