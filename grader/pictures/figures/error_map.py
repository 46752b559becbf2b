"""The heat map of what is wrong with a gradient: yours minus autograd's, entry by entry."""

from __future__ import annotations

import math
from collections.abc import Sequence
from textwrap import fill
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator

from grader.pictures.figures.sheet import INK, SIGNED, Picture, new_axes, styled
from grader.pictures.gradient_error import in_digits, measure_error
from grader.program.compare import describe_dtype, describe_shape

if TYPE_CHECKING:
    from torch import Tensor

_WIDTH = 5.6
_BESIDE = 0.7
"""What the numbers at its left take of the width."""
_HEIGHTS = (0.6, 4.4)
"""Of the map, in inches: cells are square between the two."""
_LETTERS_A_LINE = 68
_MOST_CROSSES = 60
"""More entries than this that are NaN or infinite are seen without a cross on each."""
_RING = ("white", 5.0), ("black", 2.4)
"""A mark is black with a white rim, and is seen on any colour."""


def why_no_map(name: str, student: Tensor, reference: Tensor) -> str:
    """Say why there is no map of this gradient, or "" if there is one."""
    if student.shape != reference.shape:
        return describe_shape(name, tuple(student.shape), tuple(reference.shape))
    if student.is_complex():
        return describe_dtype(name, student)
    if not reference.numel():
        return f"{name} has shape {tuple(reference.shape)}: it has no entries."
    return ""


@styled
def draw_error(
    name: str,
    student: Tensor,
    reference: Tensor,
    labels: tuple[str, Tensor] | None = None,
    whose: str = "your",
) -> Picture:
    """Draw where a gradient is wrong, and by how much.

    Args:
        name: the gradient's name, such as "dlogits".
        student: the student's gradient, real, with at least one entry.
        reference: autograd's gradient, of the same shape.
        labels: the name of a tensor of indices and the tensor itself, (n,) for a gradient
            (n, m): it names a place in each row, which gets a frame.
        whose: the gradient is called "your" or "their" value.
    """
    measured = measure_error(student, reference)
    *leading, columns = measured.error.shape or (1,)
    rows = math.prod(leading)
    title, details = measured.in_words(name, whose)
    if labels is not None:
        details.append(f"Framed is the place in each row that {labels[0]} names.")
    lines = [title, *(fill(text, _LETTERS_A_LINE) for text in details)]
    height = min(max((_WIDTH - _BESIDE) * rows / columns, _HEIGHTS[0]), _HEIGHTS[1])
    # Of what is right every cell has one colour: a scale would show rounding as an error.
    has_scale = measured.worst is not None and not measured.is_right
    figure, (axes,) = new_axes(_WIDTH, height + 0.22 * len(lines) + (1.5 if has_scale else 0.8))
    axes.set_title("\n".join(lines))
    # Rounding must not look like a mistake: the colours begin where mistakes do.
    limit = max(measured.largest, measured.tolerance) or 1.0
    cells = measured.error.reshape(rows, columns)
    image = axes.imshow(
        np.ma.masked_invalid(cells),
        cmap=SIGNED,
        vmin=-limit,
        vmax=limit,
        aspect="equal" if _HEIGHTS[0] < height < _HEIGHTS[1] else "auto",
        interpolation="nearest",
        origin="upper",
    )
    axes.spines[:].set_visible(True)
    axes.grid(visible=False)
    _number(axes, leading, columns)
    broken = np.argwhere(np.isnan(cells))
    for row, column in broken if len(broken) <= _MOST_CROSSES else ():
        _mark(axes, row, column, "x", "not finite")
    if labels is not None:
        for row, column in enumerate(labels[1].tolist()):
            frame = Rectangle((column - 0.5, row - 0.5), 1, 1, fc="none", ec=INK, gid="label")
            axes.add_patch(frame)
    if measured.worst is not None and measured.largest > measured.tolerance:
        row, column = np.argwhere(np.abs(cells) == measured.largest)[0]
        _mark(axes, row, column, "o", "largest error")
    if has_scale:
        bar = figure.colorbar(image, orientation="horizontal", aspect=40)
        bar.set_label(f"{whose}s minus autograd's (purple: too small, green: too large)")
        bar.set_ticks([-limit, 0, limit], labels=[in_digits(-limit), "0", f"+{in_digits(limit)}"])
    return Picture(figure, " ".join((f"{title}.", *details)))


def _number(axes: Axes, leading: Sequence[int], columns: int) -> None:
    """Name the dimensions along both sides, and number some of their places."""
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(MaxNLocator(6, integer=True, min_n_ticks=1))
    axes.set_xlabel(f"dimension {len(leading)} ({columns})")
    if not leading:
        axes.set_yticks([])
        return
    names = ", ".join(map(str, range(len(leading))))
    axes.set_ylabel(f"dimension {names} ({' × '.join(map(str, leading))})")

    def place(row: float, _: float) -> str:
        inside = row.is_integer() and 0 <= row < math.prod(leading)
        indices = np.unravel_index(int(row), leading) if inside else ()
        return ", ".join(map(str, indices))

    axes.yaxis.set_major_formatter(place)


def _mark(axes: Axes, row: int, column: int, marker: str, gid: str) -> None:
    for colour, width in _RING:
        axes.plot(
            column,
            row,
            marker=marker,
            markersize=14 if marker == "o" else 7,
            markerfacecolor="none",
            markeredgecolor=colour,
            markeredgewidth=width,
            clip_on=False,
            gid=gid,
        )
