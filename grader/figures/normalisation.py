"""Pictures of batch normalisation as the paper writes it: mean, variance, normalised values."""

from __future__ import annotations

from typing import Final

from matplotlib.axes import Axes

from grader.figures.matrix import draw_arrow, draw_matrix
from grader.figures.rules import draw_box
from grader.figures.style import (
    BACKWARD,
    BACKWARD_FILL,
    BLUE,
    GREEN,
    GREY,
    HAIRLINE,
    INK,
    PLAIN_FILL,
    Picture,
    canvas,
)

Place = tuple[float, float]

_ROWS: Final = {"1": 1.6, "2": 3.5, "32": 7.3}
_DOTS: Final = 5.4
_X: Final = 1.7
_STATISTICS: Final = 6.4
_XHAT: Final = 11.6
_Y: Final = 15.4
_MU: Final = (_STATISTICS, 9.7)
_VAR: Final = (_STATISTICS, 12.2)
_HALF: Final = 0.75
_MU_COLOUR: Final = INK  # not orange, in which the course draws what runs backward
_VAR_COLOUR: Final = GREEN


def batchnorm_arrows() -> Picture:
    """One column of 32 numbers through batch normalisation, every arrow counted."""
    figure, axes = canvas(17.0, 13.3, scale=0.42)
    for number, y in _ROWS.items():
        for x, symbol in ((_X, "x"), (_XHAT, r"\hat{x}"), (_Y, "y")):
            _node(axes, (x, y), f"${symbol}_{{{number}}}$")
        _arrow(axes, (_X, y), (_XHAT, y), BLUE)
        _arrow(axes, (_XHAT, y), (_Y, y), GREY)
        _arrow(axes, (_X, y), _MU, BLUE)
        _arrow(axes, (_X, y), _VAR, BLUE)
        _arrow(axes, _MU, (_XHAT, y), _MU_COLOUR)
        _arrow(axes, _VAR, (_XHAT, y), _VAR_COLOUR)
    for x in (_X, _XHAT, _Y):
        axes.text(x, _DOTS, r"$\vdots$", ha="center", va="center", fontsize=15, color=GREY)
    _node(axes, _MU, r"$\mu$", edge=_MU_COLOUR)
    _node(axes, _VAR, r"$\sigma^2$", edge=_VAR_COLOUR)
    (x, y), (_, below) = _MU, _VAR
    draw_arrow(axes, (x, y + 0.8 * _HALF), (x, below - 0.8 * _HALF), colour=_MU_COLOUR)
    for place, text, colour in (
        ((0.4, 0.45), "from each $x_i$: three arrows", BLUE),
        ((9.9, 10.4), r"from $\mu$: 32 + 1 = 33 arrows", _MU_COLOUR),
        ((9.9, 12.2), r"from $\sigma^2$: 32 arrows", _VAR_COLOUR),
    ):
        axes.text(*place, text, ha="left", va="center", color=colour, fontsize=12)
    axes.text(13.5, 1.25, r"$\gamma,\ \beta$", ha="center", va="bottom", color=GREY, fontsize=12)
    return Picture(
        figure,
        "A graph of one column of the batch. Left x1 to x32, right of them x-hat 1 to x-hat 32, "
        "then y1 to y32; below in the middle mu and sigma squared. Each x has three arrows: to "
        "its own x-hat, to mu and to sigma squared. Mu has 33 arrows: to all 32 x-hats and to "
        "sigma squared. Sigma squared has 32 arrows, to all x-hats. Each x-hat has one, to its y.",
    )


def _node(axes: Axes, place: Place, text: str, edge: str = HAIRLINE) -> None:
    draw_box(
        axes,
        place,
        text,
        width=2 * _HALF,
        height=2 * _HALF * 0.8,
        edge=edge,
        fill=PLAIN_FILL,
        fontsize=13,
    )


def _arrow(axes: Axes, start: Place, end: Place, colour: str) -> None:
    """From the right side of one node to the left side of another."""
    (x, y), (end_x, end_y) = start, end
    draw_arrow(axes, (x + _HALF, y), (end_x - _HALF, end_y), colour=colour)


def all_columns_at_once() -> Picture:
    """A sum over the examples makes a row; the row is copied to all examples."""
    figure, axes = canvas(14.6, 5.6, scale=0.45)
    entries = [[rf"$\mathrm{{d}}y_{{{i}{k}}}$" for k in "ab"] for i in range(1, 5)]
    sums = [[rf"$\sum_j \mathrm{{d}}y_{{j{k}}}$" for k in "ab"]]
    draw_matrix(
        axes,
        0.4,
        1.2,
        entries,
        title="(n, H)",
        colour=BACKWARD,
        fill=PLAIN_FILL,
        cell_width=1.3,
        fontsize=11,
    )
    draw_arrow(
        axes, (3.2, 3.2), (5.0, 3.2), label="the sum\nover $j$:\naxis 0", colour=BACKWARD, lift=0.3
    )
    _draw_sums(axes, 5.2, 2.7, sums, title="(1, H)")
    draw_arrow(
        axes, (8.8, 3.2), (10.6, 3.2), label="copied to\nevery $i$", colour=BACKWARD, lift=0.3
    )
    _draw_sums(axes, 10.8, 1.2, sums * 4, title="(n, H)")
    return Picture(
        figure,
        "Left, a grid of four rows and two columns, the examples i and the units a and b. The sum "
        "over j along axis 0 makes one row. Broadcasting copies this row to all four examples.",
    )


def _draw_sums(axes: Axes, left: float, top: float, rows: list[list[str]], *, title: str) -> None:
    draw_matrix(
        axes,
        left,
        top,
        rows,
        title=title,
        colour=BACKWARD,
        fill=BACKWARD_FILL,
        cell_width=1.7,
        fontsize=11,
    )
