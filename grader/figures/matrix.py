"""Drawing a small matrix as a grid of cells."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TypeAlias

from matplotlib.axes import Axes
from matplotlib.patches import FancyArrowPatch, Rectangle

from grader.figures.style import FORWARD, FORWARD_FILL, GREY, INK, PAPER

Cell: TypeAlias = tuple[int, int]


def draw_matrix(
    axes: Axes,
    left: float,
    top: float,
    rows: Sequence[Sequence[str]],
    *,
    title: str = "",
    colour: str = FORWARD,
    fill: str = FORWARD_FILL,
    lit: Collection[Cell] | None = None,
    cell_width: float = 1.0,
    fontsize: float = 11,
) -> None:
    """Draw `rows` with the top left corner at (`left`, `top`); a row is one unit high.

    Only the cells in `lit` are filled (all, if it is None); the others are pale.
    """
    for i, row in enumerate(rows):
        for j, text in enumerate(row):
            is_lit = lit is None or (i, j) in lit
            x, y = left + j * cell_width, top + i
            axes.add_patch(
                Rectangle(
                    (x, y),
                    cell_width,
                    1,
                    facecolor=fill if is_lit else PAPER,
                    edgecolor=colour,
                    linewidth=1.2,
                )
            )
            axes.text(
                x + cell_width / 2,
                y + 0.5,
                text,
                ha="center",
                va="center",
                color=INK if is_lit else GREY,
                fontsize=fontsize,
            )
    if title:
        middle = left + len(rows[0]) * cell_width / 2
        axes.text(
            middle, top - 0.3, title, ha="center", va="bottom", color=colour, fontsize=fontsize
        )


def draw_arrow(
    axes: Axes,
    start: tuple[float, float],
    end: tuple[float, float],
    *,
    label: str = "",
    colour: str = FORWARD,
    fontsize: float = 10.5,
    lift: float = 0.25,
    bend: float = 0.0,
) -> None:
    """Draw an arrow from `start` to `end` with `label` above its middle."""
    axes.add_patch(
        FancyArrowPatch(
            start,
            end,
            arrowstyle="-|>",
            mutation_scale=14,
            color=colour,
            linewidth=1.8,
            shrinkA=0,
            shrinkB=0,
            connectionstyle=f"arc3,rad={bend}",
        )
    )
    if label:
        axes.text(
            (start[0] + end[0]) / 2,
            (start[1] + end[1]) / 2 - lift,
            label,
            ha="center",
            va="bottom",
            color=colour,
            fontsize=fontsize,
            linespacing=1.15,
        )


def symbols(letter: str, n_rows: int, n_columns: int) -> list[list[str]]:
    """The entries of a matrix called `letter`, as mathematics.

    >>> symbols("a", 1, 2)
    [['$a_{11}$', '$a_{12}$']]
    """
    return [
        [f"${letter}_{{{i}{j}}}$" for j in range(1, n_columns + 1)] for i in range(1, n_rows + 1)
    ]
