"""Pictures of batch normalisation: as small steps, as the paper writes it, column by column."""

from __future__ import annotations

import numpy as np
from matplotlib.patches import Polygon
from torch import Tensor

from grader.pictures.figures.sheet import (
    BACKWARD,
    FORK,
    FORWARD,
    GREEN,
    GREY,
    HAIRLINE,
    INK,
    PLAIN_FILL,
    SIGNED,
    Picture,
    Place,
    new_axes,
    new_sheet,
    styled,
)

_LEFT = 3.0
_RIGHT = 9.6
_HALF_WIDTH = 2.2
_HALF_HEIGHT = 0.55
_PLACES = {
    "hprebn": (_LEFT, 1.2),
    "bnmeani": (_RIGHT, 2.9),
    "bndiff": (_LEFT, 4.6),
    "bndiff2": (_RIGHT, 6.3),
    "bnvar": (_RIGHT, 8.5),
    "bnvar_inv": (_RIGHT, 10.7),
    "bnraw": (_LEFT, 10.7),
    "hpreact": (_LEFT, 13.3),
}
_ARROWS = (
    *(("hprebn", "bndiff"), ("bndiff", "bnraw"), ("bnraw", "hpreact")),
    *(("hprebn", "bnmeani"), ("bnmeani", "bndiff"), ("bndiff", "bndiff2")),
    *(("bndiff2", "bnvar"), ("bnvar", "bnvar_inv"), ("bnvar_inv", "bnraw")),
)
_READ_TWICE = ("hprebn", "bndiff")
_ONE_ROW = ("bnmeani", "bnvar", "bnvar_inv")


def batchnorm_graph() -> Picture:
    """From `hprebn` to `hpreact`: every tensor, every reader, the two forks marked."""
    sheet = new_sheet(13.0, 14.4)
    for name, place in _PLACES.items():
        text = f"{name}  ({'1' if name in _ONE_ROW else 'n'}, H)"
        colour = FORK if name in _READ_TWICE else HAIRLINE
        width, height = 2 * _HALF_WIDTH, 2 * _HALF_HEIGHT
        sheet.box(place, text, width=width, height=height, colour=colour, size=11)
    for source, target in _ARROWS:
        (x, y), (end_x, end_y) = _PLACES[source], _PLACES[target]
        if x == end_x:
            sheet.arrow((x, y + _HALF_HEIGHT), (x, end_y - _HALF_HEIGHT))
        else:
            reach = _HALF_WIDTH if end_x > x else -_HALF_WIDTH
            sheet.arrow((x + reach, y), (end_x - reach, end_y))
    for x, y, text in (
        (8.0, 1.7, "average of each column"),
        (6.55, 3.8, "subtracted"),
        (6.5, 5.3, "squared"),
        (9.75, 7.4, "sum, divided by $n - 1$"),
        (9.75, 9.6, r"to the power $-\frac{1}{2}$"),
        (6.3, 10.4, "scales"),
        (3.2, 12.0, "times bngain, plus bnbias"),
    ):
        sheet.write((x, y), text, GREY, 10, ha="left")
    for name in _READ_TWICE:
        x, y = _PLACES[name]
        sheet.write((x - 0.2, y + 0.95), "read twice", FORK, ha="right")
    return sheet.picture(
        "A graph that runs downwards from hprebn to hpreact. hprebn is read twice: by bnmeani, "
        "the average of each column, and by bndiff, from which the mean is subtracted. bndiff is "
        "read twice as well: by bnraw, and by bndiff2, which leads through bnvar and bnvar_inv to "
        "bnraw. bnraw times bngain plus bnbias is hpreact."
    )


def all_columns_at_once() -> Picture:
    """A sum over the examples makes a row; the row is copied to all examples."""
    sheet = new_sheet(14.6, 5.6, scale=0.45)
    entries = [[rf"$\mathrm{{d}}y_{{{i}{k}}}$" for k in "ab"] for i in range(1, 5)]
    sums = [[rf"$\sum_j \mathrm{{d}}y_{{j{k}}}$" for k in "ab"]]
    title, colour = "(n, H)", BACKWARD
    sheet.matrix(0.4, 1.2, entries, title, colour=colour, fill=PLAIN_FILL, cell_width=1.3)
    words = "the sum\nover $j$:\naxis 0"
    sheet.arrow((3.2, 3.2), (5.0, 3.2), words, colour=colour, lift=0.3)
    sheet.matrix(5.2, 2.7, sums, "(1, H)", colour=colour, cell_width=1.7)
    sheet.arrow((8.8, 3.2), (10.6, 3.2), "copied to\nevery $i$", colour=colour, lift=0.3)
    sheet.matrix(10.8, 1.2, sums * 4, title, colour=colour, cell_width=1.7)
    return sheet.picture(
        "Left, a grid of four rows and two columns, the examples i and the units a and b. The sum "
        "over j along axis 0 makes one row. Broadcasting copies this row to all four examples."
    )


@styled
def lowest_at_the_mean() -> Picture:
    """The variance of 1, 2 and 6, measured from any number: level at their mean."""
    m = np.linspace(0, 6, 121)
    measured_from_m = sum((x - m) ** 2 for x in (1, 2, 6)) / 2
    figure, (axes,) = new_axes(height=3.2)
    axes.plot(m, measured_from_m, color=FORWARD)
    axes.plot(3, 7, "o", color=INK, label="at the mean", zorder=3)
    axes.plot([1.5, 4.5], [7, 7], "--", color=BACKWARD, label="the tangent there")
    axes.set(title="the variance of (1, 2, 6), measured from m", xlabel="m", ylim=(0, 22))
    axes.legend(loc="upper center")
    return Picture(figure, "A parabola. Its lowest point is at the mean, 3, with a level tangent.")


def two_directions_removed() -> Picture:
    """A column of three numbers as an arrow that loses its parts along (1, 1, 1) and x-hat."""
    arriving, ones, x_hat = np.array([1, 0, 0]), np.ones(3), np.array([1, 2, 6]) - 3
    left_over = np.cross(ones, x_hat)
    up, right, near = (float(arriving @ v / np.linalg.norm(v)) for v in (ones, x_hat, left_over))

    def at(up: float, right: float, near: float) -> Place:
        """Where the sheet shows a point in space."""
        return 8.5 + 6 * (right - 0.7 * near), 4.3 + 6 * (0.45 * near - up)

    sheet = new_sheet(13.8, 7.0, scale=0.42)
    corners = [at(0, *place) for place in ((-0.7, 0), (0.6, 0), (0.6, 0.8), (-0.7, 0.8))]
    sheet.axes.add_patch(Polygon(corners, fc=PLAIN_FILL, ec=HAIRLINE))
    origin, tip = at(0, 0, 0), at(up, right, near)
    first, second = at(0, right, near), at(0, 0, near)
    sheet.arrow(origin, at(0.62, 0, 0), colour=GREEN)
    sheet.arrow(origin, at(0, 0.6, 0), colour=GREEN)
    sheet.arrow(origin, tip, colour=BACKWARD, linewidth=2.4)
    sheet.arrow(origin, second, colour=BACKWARD, linewidth=2.4)
    for (x, y), (end_x, end_y) in ((tip, first), (first, second)):
        sheet.axes.plot([x, end_x], [y, end_y], "--", color=GREY, linewidth=1.6)
    for place, text, colour, ha in (
        (at(0.58, 0.04, 0), "(1, 1, 1): all three raised", GREEN, "left"),
        (at(0.06, 0.2, 0), r"along $\hat{x}$: stretched", GREEN, "left"),
        (at(up + 0.06, right, near), "what arrives: (1, 0, 0)", BACKWARD, "left"),
        (at(up / 2, right - 0.03, near), "its part along\n(1, 1, 1)", GREY, "right"),
        (at(0.05, right / 2, near), r"its part along $\hat{x}$", GREY, "center"),
        (at(0, 0.06, 0.8 * near), "what is left", BACKWARD, "left"),
    ):
        sheet.write(place, text, colour, 11, ha=ha)
    return sheet.picture(
        "An arrow in space, what arrives at three examples: (1, 0, 0). From its tip a dashed line "
        "leads straight down, its part along (1, 1, 1), to a plane; in the plane another leads "
        "to the right, its part along x-hat. The arrow from the origin to where this ends is "
        "what is left; it is at right angles to both directions."
    )


@styled
def slopes_of_a_column(slopes: Tensor) -> Picture:
    """How each output of a normalised column moves with each input, with and without the diagonal.

    Args:
        slopes: (n, n), the outputs down.
    """
    figure, panels = new_axes(6.0, 3.0, columns=2)
    for axes, values, title in zip(
        panels,
        (slopes, slopes - slopes.diag().diag()),
        ("all slopes", "without the diagonal"),
        strict=True,
    ):
        limit = values.abs().max().item()
        image = axes.imshow(values.numpy(), cmap=SIGNED, vmin=-limit, vmax=limit)
        axes.grid(visible=False)
        axes.set(title=title, xlabel="moved: example j", ylabel="changes: example i")
        figure.colorbar(image, shrink=0.8)
    return Picture(
        figure,
        "Two matrices of 32 by 32 slopes. Left, a strong green diagonal on a nearly empty ground. "
        "Right, the ground alone on a finer scale: mostly pale purple, with stronger rows and "
        "columns woven into it.",
    )


@styled
def output_afterwards(measured: float) -> Picture:
    """By how much BatchNorm1d's output shrinks when training ends, for each size of the batch.

    Args:
        measured: the ratio that was found for three examples.
    """
    sizes = np.arange(2, 65)
    figure, (axes,) = new_axes(height=3.2)
    axes.plot(sizes, np.sqrt((sizes - 1) / sizes), color=GREEN)
    axes.plot(3, measured, "o", color=GREEN, label="the three numbers above")
    axes.set(title="output afterwards / output while training", xlabel="batch size")
    axes.set_ylim(0.65, 1.02)
    axes.legend(loc="lower right")
    return Picture(
        figure,
        "A curve that rises from 0.71 for a batch of two towards 1, which it has nearly reached at "
        "64. A dot for three examples lies on it, at 0.82.",
    )
