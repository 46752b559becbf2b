"""The heat map of what is wrong with a gradient: student minus reference, entry by entry."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, Normalize
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from grader.card import INK, QUIET, font, new_card, points, text_width, wrap
from grader.compare import RELATIVE_TOLERANCE, ROUNDING_NOISE, describe_dtype, describe_shape

if TYPE_CHECKING:
    from torch import Tensor

_NOT_FINITE = "#1c1c1e"
_COLOURS = LinearSegmentedColormap.from_list(
    "error", ["#00304f", "#0072b2", "#86bcdb", "#f6f6f4", "#efab80", "#d55e00", "#5c2900"]
).with_extremes(bad=_NOT_FINITE)
"""Through Okabe and Ito's blue (too small) and vermilion (too large): safe for the colour-blind."""

_TITLE = 21.0
_TEXT = 16.0
_TICK = 15.0
_LINE = 23.0
_MARGIN = 24.0
_INNER_WIDTH = 560.0
_LARGEST_MAP = (780.0, 440.0)
_SMALLEST_MAP = (300.0, 56.0)
_LARGEST_CELL = 56.0
_RING = 20.0
_MOST_CROSSES = 60
"""More entries than this that are NaN or infinite are seen without a cross on each."""

Index = tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class ErrorMap:
    """The error of a gradient, float64, in the gradient's own shape.

    It is NaN where the student's value or the reference is NaN or infinite; `worst` is the index
    of the largest absolute error, None where no entry is finite.
    """

    student: NDArray[np.float64]
    reference: NDArray[np.float64]
    error: NDArray[np.float64]
    worst: Index | None

    @property
    def shape(self) -> Index:
        return self.error.shape

    @property
    def cells(self) -> NDArray[np.float64]:
        """The error as a matrix: all dimensions but the last flattened into the rows."""
        return self.error.reshape(-1, self.shape[-1] if self.shape else 1)

    @property
    def largest(self) -> float:
        return 0.0 if self.worst is None else abs(float(self.error[self.worst]))

    @property
    def is_rounding(self) -> bool:
        scale = float(np.abs(self.reference).max())
        return self.largest <= RELATIVE_TOLERANCE * scale + ROUNDING_NOISE


def measure_error(student: Tensor, reference: Tensor) -> ErrorMap:
    """Compare two tensors of one shape, neither empty nor complex."""
    ours, theirs = (
        np.asarray(tensor.detach().cpu().double().numpy()) for tensor in (student, reference)
    )
    finite = np.isfinite(ours) & np.isfinite(theirs)
    error = np.full(ours.shape, np.nan)
    np.subtract(ours, theirs, out=error, where=finite)
    worst = None
    if finite.any():
        flat = int(np.nanargmax(np.abs(error)))
        worst = tuple(int(place) for place in np.unravel_index(flat, error.shape))
    return ErrorMap(ours, theirs, error, worst)


def draw_error(name: str, student: Tensor, reference: Tensor) -> Figure:
    """Draw where a gradient is wrong, and by how much.

    Args:
        name: the gradient's name, such as "dlogits".
        student: the student's gradient; another shape than the reference's gives a sentence.
        reference: autograd's gradient.
    """
    if student.shape != reference.shape:
        return _draw_sentence(describe_shape(name, tuple(student.shape), tuple(reference.shape)))
    if student.is_complex():
        return _draw_sentence(describe_dtype(name, student))
    if not reference.numel():
        return _draw_sentence(f"{name} has shape {tuple(reference.shape)}: it has no entries.")
    return _draw_map(name, measure_error(student, reference))


def _draw_sentence(sentence: str) -> Figure:
    lines = wrap(sentence, _TEXT, _INNER_WIDTH)
    figure, axes = new_card(_INNER_WIDTH + 2 * _MARGIN, _LINE * len(lines) + 2 * _MARGIN)
    _write_lines(axes, lines, _MARGIN)
    figure.set_label(sentence)
    return figure


def _draw_map(name: str, measured: ErrorMap) -> Figure:
    cells = measured.cells
    rows, columns = cells.shape
    size = _map_size(rows, columns)
    row_ticks = _ticks(rows, size[1], 26)
    gutter = 14 + max(
        text_width(_row_label(row, measured.shape), _TICK) for row in (*row_ticks, rows - 1)
    )
    inner = max(_INNER_WIDTH, gutter + size[0])
    title, details = _words(name, measured)
    titles = wrap(title, _TITLE, inner, bold=True)
    lines = [line for text in (*details, _axes_words(measured.shape)) for line in wrap(text, _TEXT, inner)]
    top = _MARGIN + 30 * len(titles) + _LINE * len(lines) + 12
    footer = 32 + (76 if measured.largest else 0)
    figure, axes = new_card(inner + 2 * _MARGIN, top + size[1] + footer + _MARGIN)
    figure.set_label(" ".join((title, *details)))

    for index, line in enumerate(titles):
        axes.text(
            _MARGIN,
            _MARGIN + 30 * index,
            line,
            va="top",
            color=INK,
            fontproperties=font(_TITLE, bold=True),
            gid="title",
        )
    _write_lines(axes, lines, _MARGIN + 30 * len(titles))
    left = _MARGIN + gutter
    _draw_cells(axes, cells, left, top, size, measured.largest)
    _draw_ticks(axes, measured, row_ticks, left, top, size)
    _mark(axes, measured, left, top, size)
    if measured.largest:
        _draw_scale(axes, measured.largest, left, top + size[1] + 44, min(size[0], 380))
    return figure


def _map_size(rows: int, columns: int) -> tuple[float, float]:
    """Square cells where they fit, stretched ones where the map would be a mere line."""
    cell = min(_LARGEST_MAP[0] / columns, _LARGEST_MAP[1] / rows, _LARGEST_CELL)
    width, height = max(cell * columns, _SMALLEST_MAP[0]), max(cell * rows, _SMALLEST_MAP[1])
    return width, height


def _words(name: str, measured: ErrorMap) -> tuple[str, list[str]]:
    """A title, and the sentences below it."""
    broken = int(np.isnan(measured.error).sum())
    details = []
    if measured.worst is None:
        return f"{name}: no entry is a finite number", details
    where = f"[{', '.join(map(str, measured.worst))}]" if measured.worst else "its only entry"
    title = f"{name}: largest error {_number(measured.largest)} at {where}"
    if not measured.largest:
        title = f"{name}: no error"
    elif measured.is_rounding:
        title = f"{name}: right up to rounding, {_number(measured.largest)} at {where}"
    if measured.largest:
        ours, theirs = measured.student[measured.worst], measured.reference[measured.worst]
        details.append(f"Your value there is {_number(ours)}, autograd's is {_number(theirs)}.")
    if broken:
        entries = "entry is" if broken == 1 else "entries are"
        details.append(f"✕ {broken} of {measured.error.size} {entries} NaN or infinite.")
    return title, details


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


def _number(value: float) -> str:
    return f"{value:.3g}".replace("-", "−")


def _write_lines(axes: Axes, lines: Sequence[str], top: float) -> None:
    for index, line in enumerate(lines):
        axes.text(
            _MARGIN, top + _LINE * index, line, va="top", color=INK, fontproperties=font(_TEXT)
        )


def _draw_cells(
    axes: Axes,
    cells: NDArray[np.float64],
    left: float,
    top: float,
    size: tuple[float, float],
    largest: float,
) -> None:
    limit = largest or 1.0
    axes.imshow(
        np.ma.masked_invalid(cells),
        cmap=_COLOURS,
        norm=Normalize(-limit, limit),
        extent=(left, left + size[0], top + size[1], top),
        aspect="auto",
        interpolation="nearest",
        origin="upper",
        zorder=1,
    )
    axes.add_patch(
        Rectangle(
            (left, top), *size, facecolor="none", edgecolor=QUIET, linewidth=points(1), zorder=2
        )
    )


def _ticks(count: int, length: float, room: float) -> list[int]:
    most = max(1, min(6, int(length / room)))
    places = MaxNLocator(nbins=most, integer=True).tick_values(0, max(count - 1, 1))
    return [int(place) for place in places if 0 <= place < count]


def _row_label(row: int, shape: Index) -> str:
    if len(shape) < 2:
        return ""
    return ", ".join(str(int(place)) for place in np.unravel_index(row, shape[:-1]))


def _draw_ticks(
    axes: Axes,
    measured: ErrorMap,
    row_ticks: Sequence[int],
    left: float,
    top: float,
    size: tuple[float, float],
) -> None:
    """Number some rows and columns, and those of the largest error in bold."""
    rows, columns = measured.cells.shape
    worst_row, worst_column = _worst_cell(measured)

    def beside(row: int) -> float:
        return top + size[1] * (row + 0.5) / rows

    def below(column: int) -> float:
        return left + size[0] * (column + 0.5) / columns

    for row in _with_worst(row_ticks, worst_row, size[1] / rows, 22):
        axes.text(
            left - 8,
            beside(row),
            _row_label(row, measured.shape),
            ha="right",
            va="center",
            color=INK if row == worst_row else QUIET,
            fontproperties=font(_TICK, bold=row == worst_row),
        )
    if not measured.shape:
        return
    for column in _with_worst(_ticks(columns, size[0], 60), worst_column, size[0] / columns, 36):
        axes.text(
            below(column),
            top + size[1] + 7,
            str(column),
            ha="center",
            va="top",
            color=INK if column == worst_column else QUIET,
            fontproperties=font(_TICK, bold=column == worst_column),
        )


def _with_worst(ticks: Sequence[int], worst: int | None, cell: float, room: float) -> list[int]:
    if worst is None:
        return list(ticks)
    return [worst, *(tick for tick in ticks if abs(tick - worst) * cell > room)]


def _worst_cell(measured: ErrorMap) -> tuple[int | None, int | None]:
    if measured.worst is None or not measured.largest:
        return None, None
    flat = int(np.ravel_multi_index(measured.worst, measured.shape)) if measured.shape else 0
    row, column = divmod(flat, measured.cells.shape[1])
    return row, column


def _mark(
    axes: Axes, measured: ErrorMap, left: float, top: float, size: tuple[float, float]
) -> None:
    """A ring around the largest error, crosses where there is no finite number."""
    rows, columns = measured.cells.shape
    broken = np.argwhere(np.isnan(measured.cells))
    if 0 < len(broken) <= _MOST_CROSSES:
        xs = left + size[0] * (broken[:, 1] + 0.5) / columns
        ys = top + size[1] * (broken[:, 0] + 0.5) / rows
        for colour, width in (("white", 4.5), (_NOT_FINITE, 2.2)):
            axes.plot(
                xs,
                ys,
                linestyle="none",
                marker="x",
                markersize=points(10),
                markeredgewidth=points(width),
                color=colour,
                zorder=3,
                gid="not finite",
            )
    row, column = _worst_cell(measured)
    if row is None or column is None:
        return
    x = left + size[0] * (column + 0.5) / columns
    y = top + size[1] * (row + 0.5) / rows
    diameter = max(_RING, 1.3 * min(size[0] / columns, size[1] / rows))
    for colour, width in (("white", 5.0), (INK, 2.4)):
        axes.plot(
            x,
            y,
            linestyle="none",
            marker="o",
            markersize=points(diameter),
            markerfacecolor="none",
            markeredgecolor=colour,
            markeredgewidth=points(width),
            zorder=4,
            gid="largest error",
        )


def _draw_scale(axes: Axes, largest: float, left: float, top: float, width: float) -> None:
    """The colour bar: what the colours mean, its ends and its middle."""
    axes.text(
        left, top, "student − reference", va="top", color=INK, fontproperties=font(_TICK)
    )
    bar_top, height = top + 23, 12.0
    axes.imshow(
        np.linspace(-1, 1, 256).reshape(1, -1),
        cmap=_COLOURS,
        norm=Normalize(-1, 1),
        extent=(left, left + width, bar_top + height, bar_top),
        aspect="auto",
        zorder=1,
    )
    ends = ((0.0, -largest, "left"), (0.5, 0.0, "center"), (1.0, largest, "right"))
    for place, value, side in ends:
        axes.text(
            left + place * width,
            bar_top + height + 5,
            f"+{_number(value)}" if value > 0 else _number(value),
            ha=side,
            va="top",
            color=INK,
            fontproperties=font(_TICK),
        )
