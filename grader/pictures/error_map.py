"""The heat map of what is wrong with a gradient: yours minus autograd's, entry by entry."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.colors import LinearSegmentedColormap, Normalize
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator

from grader.pictures.card import INK, QUIET, Card, line_height, points, text_width, wrap
from grader.pictures.gradient_error import GradientError, Index, in_digits, measure_error
from grader.program.compare import describe_dtype, describe_shape

if TYPE_CHECKING:
    from torch import Tensor

_COLOURS = LinearSegmentedColormap.from_list(
    "error", ["#4a1a6b", "#762a83", "#c2a5cf", "#f6f6f4", "#a6dba0", "#1b7837", "#00441b"]
).with_extremes(bad=INK)
"""From purple (too small) to green (too large), ColorBrewer's PRGn: safe for the colour-blind.

Blue and orange mean forward and backward in this course."""

_TITLE = 21.0
_TEXT = 16.0
_TICK = 15.0
_MARGIN = 24.0
_INNER_WIDTH = 560.0
_LARGEST_MAP = (780.0, 420.0)
_SMALLEST_MAP = (440.0, 56.0)
_LARGEST_CELL = 56.0
_SCALE_WIDTH = 400.0
_RING = (20.0, 34.0)
_MOST_CROSSES = 60
"""More entries than this that are NaN or infinite are seen without a cross on each."""


@dataclass(frozen=True, slots=True)
class _Map:
    """Where the cells of a map lie on the card, in pixels; the last dimension runs along a row."""

    shape: Index
    left: float
    top: float
    width: float
    height: float

    @property
    def columns(self) -> int:
        return self.shape[-1] if self.shape else 1

    @property
    def rows(self) -> int:
        return math.prod(self.shape[:-1])

    def x(self, column: int) -> float:
        return self.left + self.width * (column + 0.5) / self.columns

    def y(self, row: int) -> float:
        return self.top + self.height * (row + 0.5) / self.rows

    def cell_of(self, index: Index) -> tuple[int, int]:
        row = int(np.ravel_multi_index(index[:-1], self.shape[:-1])) if len(index) > 1 else 0
        return row, index[-1] if index else 0


def draw_error(
    name: str,
    student: Tensor,
    reference: Tensor,
    labels: tuple[str, Tensor] | None = None,
    whose: str = "your",
) -> Figure:
    """Draw where a gradient is wrong, and by how much.

    The figure's label is a text for those who cannot see it.

    Args:
        name: the gradient's name, such as "dlogits".
        student: the student's gradient, of any dtype; one that is complex or has another shape
            than the reference gets a sentence instead of a map.
        reference: autograd's gradient, real, of any shape.
        labels: the name of a tensor of indices and the tensor itself, (n,) for a gradient
            (n, m): it names a place in each row, which gets a frame.
        whose: the gradient is called "your" or "their" value.
    """
    if student.shape != reference.shape:
        return _draw_sentence(describe_shape(name, tuple(student.shape), tuple(reference.shape)))
    if student.is_complex():
        return _draw_sentence(describe_dtype(name, student))
    if not reference.numel():
        return _draw_sentence(f"{name} has shape {tuple(reference.shape)}: it has no entries.")
    return _draw_map(name, measure_error(student, reference), labels, whose)


def _draw_sentence(sentence: str) -> Figure:
    lines = wrap(sentence, _TEXT, _INNER_WIDTH)
    height = line_height(_TEXT) * len(lines)
    card = Card(_INNER_WIDTH + 2 * _MARGIN, height + 2 * _MARGIN, sentence)
    card.write_lines(lines, _MARGIN, _MARGIN, _TEXT)
    return card.figure


def _draw_map(
    name: str, measured: GradientError, labels: tuple[str, Tensor] | None, whose: str
) -> Figure:
    shape = measured.error.shape
    gutter = 8 + max(text_width(_row_label(row, shape), _TICK, True) for row in _some_rows(shape))
    title, details = measured.in_words(name, whose)
    if labels is not None:
        details = [*details, f"Framed is the place in each row that {labels[0]} names."]
    place = _size_map(shape, _MARGIN + gutter)
    inner = max(_INNER_WIDTH, gutter + place.width)
    titles = wrap(title, _TITLE, inner, bold=True)
    texts = [line for text in (*details, _axes_words(shape)) for line in wrap(text, _TEXT, inner)]

    top = _MARGIN + line_height(_TITLE) * len(titles) + line_height(_TEXT) * len(texts) + 12
    place = replace(place, top=top)
    # Of what is right every cell has one colour: a scale would show rounding as an error.
    has_scale = measured.worst is not None and not measured.is_right
    height = top + place.height + (108 if has_scale else 32) + _MARGIN
    card = Card(inner + 2 * _MARGIN, height, " ".join((f"{title}.", *details)))
    below = card.write_lines(titles, _MARGIN, _MARGIN, _TITLE, bold=True)
    card.write_lines(texts, _MARGIN, below, _TEXT)
    # Rounding must not look like a mistake: the colours begin where mistakes do.
    limit = max(measured.largest, measured.tolerance) or 1.0
    _draw_cells(card, measured, place, limit)
    if labels is not None:
        _draw_frames(card, place, labels[1].tolist())
    worst = None
    if measured.worst is not None and measured.largest > measured.tolerance:
        worst = place.cell_of(measured.worst)
        _draw_ring(card, place, *worst)
    _draw_ticks(card, place, worst)
    if has_scale:
        _draw_scale(card, whose, limit, place.left, place.top + place.height + 44)
    return card.figure


def _size_map(shape: Index, left: float) -> _Map:
    """Make cells square where they fit, and stretch them where the map would be a mere line."""
    place = _Map(shape, left, 0.0, 0.0, 0.0)
    cell = min(_LARGEST_MAP[0] / place.columns, _LARGEST_MAP[1] / place.rows, _LARGEST_CELL)
    width = max(cell * place.columns, _SMALLEST_MAP[0])
    return replace(place, width=width, height=max(cell * place.rows, _SMALLEST_MAP[1]))


def _axes_words(shape: Index) -> str:
    match shape:
        case ():
            return "A single number."
        case (length,):
            return f"Columns: dimension 0 ({length})."
        case (rows, columns):
            return f"Rows: dimension 0 ({rows}). Columns: dimension 1 ({columns})."
    leading = ", ".join(map(str, range(len(shape) - 1)))
    sizes = " × ".join(map(str, shape[:-1]))
    return (
        f"Rows: dimensions {leading} ({sizes} = {math.prod(shape[:-1])})."
        f" Columns: dimension {len(shape) - 1} ({shape[-1]})."
    )


def _draw_cells(card: Card, measured: GradientError, place: _Map, limit: float) -> None:
    """Draw the map itself, with a cross where an entry is not finite."""
    cells = measured.error.reshape(place.rows, place.columns)
    card.axes.imshow(
        np.ma.masked_invalid(cells),
        cmap=_COLOURS,
        norm=Normalize(-limit, limit),
        extent=(place.left, place.left + place.width, place.top + place.height, place.top),
        aspect="auto",
        interpolation="nearest",
        origin="upper",
        zorder=1,
    )
    corner, width = (place.left, place.top), points(1)
    card.axes.add_patch(
        Rectangle(corner, place.width, place.height, fc="none", ec=QUIET, lw=width, zorder=2)
    )
    broken = [(int(row), int(column)) for row, column in np.argwhere(np.isnan(cells))]
    if len(broken) <= _MOST_CROSSES:
        for row, column in broken:
            _draw_mark(card, place.x(column), place.y(row), "x", 10.0, "not finite")


def _draw_frames(card: Card, place: _Map, columns: Sequence[int]) -> None:
    width, height = place.width / place.columns, place.height / place.rows
    for row, column in enumerate(columns):
        corner = (place.x(column) - width / 2, place.y(row) - height / 2)
        frame = Rectangle(corner, width, height, fc="none", ec=INK, lw=points(1.2), zorder=2)
        frame.set_gid("label")
        card.axes.add_patch(frame)


def _draw_ring(card: Card, place: _Map, row: int, column: int) -> None:
    cell = min(place.width / place.columns, place.height / place.rows)
    size = min(max(_RING[0], 1.3 * cell), _RING[1])
    _draw_mark(card, place.x(column), place.y(row), "o", size, "largest error")


def _draw_mark(card: Card, x: float, y: float, marker: str, size: float, gid: str) -> None:
    """Draw a marker with a white rim, which is seen on any colour."""
    for colour, width in (("white", 5.0), (INK, 2.4)):
        card.axes.plot(
            x,
            y,
            linestyle="none",
            marker=marker,
            markersize=points(size),
            markerfacecolor="none",
            markeredgecolor=colour,
            markeredgewidth=points(width),
            zorder=3,
            gid=gid,
        )


def _draw_ticks(card: Card, place: _Map, worst: tuple[int, int] | None) -> None:
    """Number some rows and columns, and those of the largest error in bold."""
    worst_row, worst_column = worst or (None, None)
    for row in _with_worst(_some_rows(place.shape), worst_row, 22 * place.rows / place.height):
        label, is_worst = _row_label(row, place.shape), row == worst_row
        _write_tick(card, place.left - 8, place.y(row), label, is_worst, ha="right", va="center")
    if not place.shape:
        return
    for column in _with_worst(_some(place.columns), worst_column, 36 * place.columns / place.width):
        x, y, is_worst = place.x(column), place.top + place.height + 7, column == worst_column
        _write_tick(card, x, y, str(column), is_worst, ha="center")


def _write_tick(card: Card, x: float, y: float, label: str, is_worst: bool, **style: str) -> None:
    card.write(x, y, label, _TICK, INK if is_worst else QUIET, bold=is_worst, **style)


def _some_rows(shape: Index) -> list[int]:
    return _some(math.prod(shape[:-1]))


def _some(count: int) -> list[int]:
    """A few round numbers below `count`."""
    places = MaxNLocator(nbins=6, integer=True).tick_values(0, count)
    return [int(place) for place in places if 0 <= place < count]


def _with_worst(ticks: Sequence[int], worst: int | None, room: float) -> list[int]:
    """Add the worst place to the ticks, and drop the ticks too near to it."""
    if worst is None:
        return list(ticks)
    return [worst, *(tick for tick in ticks if abs(tick - worst) > room)]


def _row_label(row: int, shape: Index) -> str:
    if len(shape) < 2:
        return ""
    return ", ".join(str(int(place)) for place in np.unravel_index(row, shape[:-1]))


def _draw_scale(card: Card, whose: str, limit: float, left: float, top: float) -> None:
    """Draw the colour bar with its meaning, its ends and its middle."""
    meaning = f"{whose}s minus autograd's (purple: too small, green: too large)"
    card.write(left, top, meaning, _TICK)
    below = top + line_height(_TICK)
    card.axes.imshow(
        np.linspace(-1, 1, 256).reshape(1, -1),
        cmap=_COLOURS,
        extent=(left, left + _SCALE_WIDTH, below + 12, below),
        aspect="auto",
        zorder=1,
    )
    ends = ((0.0, -limit, "left"), (0.5, 0.0, "center"), (1.0, limit, "right"))
    for share, value, side in ends:
        digits = f"+{in_digits(value)}" if value > 0 else in_digits(value)
        card.write(left + share * _SCALE_WIDTH, below + 17, digits, _TICK, ha=side)
