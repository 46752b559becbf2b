"""What teaching figures are drawn with: colours, and a sheet for words, boxes, arrows, matrices."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from typing import Any

import matplotlib.pyplot as plt
from cycler import cycler
from matplotlib.axes import Axes
from matplotlib.colors import Colormap, LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch, Rectangle

from grader.pictures.front_end import image_element, is_live

# Figures have no ground of their own, and a saved one may lack the light that `front_end` gives it
# on a dark page. So these colours are mid-tones: as dark as words on white have to be (4.5 to 1),
# but no darker, which is 4.2 to 1 on JupyterLab's dark ground. No colour has 4.5 to 1 on both.
#
# Blue and orange mean forward and backward everywhere, and have no other names. All are near Okabe
# and Ito's, which stay apart for every common kind of colour blindness.
FORWARD = "#007CC1"
BACKWARD = "#C85200"
GREEN = "#008762"
PINK = "#B7538F"
PURPLE = "#995DBD"
INK = GREY = "#75767F"
HAIRLINE = "#8F949C"

NONE = "none"
FORK = GREEN
FILLS = {colour: f"{colour}1e" for colour in (FORWARD, BACKWARD, FORK, HAIRLINE)}
"""What is drawn in a colour is filled with its pale tint, through which the page shows."""
PLAIN_FILL = FILLS[HAIRLINE]
PALER = {FORWARD: f"{FORWARD}70", BACKWARD: f"{BACKWARD}70"}
"""The many beside the one that matters."""


def fading(below: str, above: str) -> Colormap:
    """A colour map from one colour to another, through nothing in the middle."""
    stops = [(0.0, below), (0.5, f"{below}00"), (0.5, f"{above}00"), (1.0, above)]
    return LinearSegmentedColormap.from_list("fading", stops).with_extremes(bad=INK)


def fading_in(colour: str) -> Colormap:
    """A colour map from nothing to a colour."""
    return LinearSegmentedColormap.from_list("fading in", [f"{colour}00", colour])


SIGNED = fading(PURPLE, GREEN)
"""For numbers around zero. Blue and orange mean forward and backward in this course."""

LINES = ((INK, "-"), (GREEN, "--"), (PINK, ":"), (PURPLE, "-."))
"""Curves that are neither forward nor backward: also in grey print no two are alike."""

SHARP = 2  # rendered pixels for each displayed one, for high-density screens
PIXELS_PER_INCH = 96

_COURSE_STYLE: dict[Any, Any] = {
    "figure.facecolor": NONE,
    "savefig.facecolor": NONE,
    "figure.figsize": (5.6, 2.9),
    "figure.dpi": 110,
    "axes.facecolor": NONE,
    "axes.edgecolor": HAIRLINE,
    "axes.labelcolor": INK,
    "axes.titlecolor": INK,
    "axes.titlesize": 11,
    "axes.titlelocation": "left",
    "axes.labelsize": 10.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.prop_cycle": cycler(color=[GREEN, INK, PINK, PURPLE]),
    "grid.color": f"{HAIRLINE}44",
    "text.color": INK,
    "xtick.color": GREY,
    "ytick.color": GREY,
    "lines.linewidth": 2.0,
    "legend.frameon": False,
    "legend.fontsize": 10,
    "font.size": 10.5,
}


@contextmanager
def _course_style() -> Iterator[None]:
    with plt.rc_context(_COURSE_STYLE):
        yield


styled = _course_style()
"""Decorates what draws a plot: legends and colour bars have the course's look as well."""

Cell = tuple[int, int]
Place = tuple[float, float]


@dataclass(frozen=True, slots=True, eq=False)
class Picture:
    """A figure together with the words that stand for it where it cannot be seen.

    Jupyter shows it as a PNG image that carries `alt`; a terminal prints `alt`. It is no
    matplotlib `Figure` itself, so it shows in a notebook whichever backend is active.
    JupyterLab lets no PNG image carry words: at a front end it is HTML as well.
    """

    figure: Figure
    alt: str

    def __repr__(self) -> str:
        return f"<Picture: {self.alt}>"

    def png(self) -> bytes:
        """The picture as the bytes of a PNG file."""
        buffer = BytesIO()
        self.figure.savefig(
            buffer, format="png", dpi=SHARP * PIXELS_PER_INCH, facecolor=NONE, metadata={}
        )
        return buffer.getvalue()

    @property
    def width(self) -> int:
        """How wide it is displayed, in pixels."""
        return round(self.figure.get_figwidth() * PIXELS_PER_INCH)

    def _repr_png_(self) -> tuple[bytes, dict[str, object]]:
        return self.png(), {"alt": self.alt, "width": self.width}

    def _repr_html_(self) -> str | None:
        return image_element(self.png(), self.alt, self.width) if is_live() else None

    def forms(self) -> tuple[dict[str, object], dict[str, object]]:
        """What a front end gets, with the metadata."""
        png, described = self._repr_png_()
        html = image_element(png, self.alt, self.width)
        data: dict[str, object] = {"text/html": html, "image/png": png, "text/plain": repr(self)}
        return data, {"image/png": described}


@styled
def new_axes(
    width: float = 5.6,
    height: float = 2.9,
    *,
    columns: int = 1,
    rows: int = 1,
    **arrangement: Any,
) -> tuple[Figure, list[Axes]]:
    """An empty plot in the course's look, and its axes in reading order.

    Args:
        width: in inches; what is wider has small words on a telephone.
        height: in inches.
        columns: how many axes stand side by side.
        rows: how many stand one below the other.
        arrangement: what else `Figure.subplots` takes, such as `sharex`.
    """
    figure = Figure(figsize=(width, height), facecolor=NONE, layout="constrained")
    figure.subplots(rows, columns, **arrangement)
    return figure, list(figure.axes)


def new_sheet(width: float, height: float, *, scale: float = 0.5) -> Sheet:
    """An empty sheet of `width` by `height` units whose origin is the top left corner.

    `scale` is the length of a unit in inches: one cell of a drawn matrix is one unit.
    """
    figure = Figure(figsize=(width * scale, height * scale), facecolor=NONE)
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    axes.set_xlim(0, width)
    axes.set_ylim(height, 0)
    axes.set_axis_off()
    return Sheet(axes)


@dataclass(frozen=True, slots=True, eq=False)
class Sheet:
    """The axes that a figure is drawn on; lengths are in their units, sizes of text in points."""

    axes: Axes

    def picture(self, alt: str) -> Picture:
        """The whole sheet, with the words for it."""
        figure = self.axes.get_figure(root=True)
        assert figure is not None  # axes are made on one
        return Picture(figure, alt)

    def write(
        self,
        place: Place,
        text: str,
        colour: str = INK,
        size: float | None = None,
        *,
        ha: str = "center",
        va: str = "center",
        **style: Any,
    ) -> None:
        """Write `text` with its middle at `place`, or as `ha` and `va` say."""
        self.axes.text(*place, text, color=colour, fontsize=size, ha=ha, va=va, **style)

    def box(
        self,
        centre: Place,
        text: str,
        *,
        width: float = 3.0,
        height: float = 1.6,
        colour: str = HAIRLINE,
        fill: str = "",
        size: float = 12,
    ) -> None:
        """Draw a rounded box with `text` in it."""
        corner = (centre[0] - width / 2, centre[1] - height / 2)
        shape = "round,pad=0,rounding_size=0.25"
        fill = fill or FILLS[colour]
        box = FancyBboxPatch(corner, width, height, shape, fc=fill, ec=colour, lw=1.4)
        self.axes.add_patch(box)
        self.write(centre, text, size=size)

    def cell(
        self, corner: Place, width: float, height: float, fill: str, colour: str, **style: Any
    ) -> None:
        """Draw a rectangle by its top left corner."""
        style = {"lw": 1.2, **style}
        self.axes.add_patch(Rectangle(corner, width, height, fc=fill, ec=colour, **style))

    def matrix(
        self,
        left: float,
        top: float,
        rows: Sequence[Sequence[str]],
        title: str = "",
        *,
        colour: str = FORWARD,
        fill: str = "",
        lit: Collection[Cell] | None = None,
        cell_width: float = 1.0,
        size: float = 11,
    ) -> None:
        """Draw `rows` with the top left corner at (`left`, `top`); a row is one unit high.

        Only the cells in `lit` are filled (all, if it is None); the others are pale.
        """
        for i, row in enumerate(rows):
            for j, text in enumerate(row):
                is_lit = lit is None or (i, j) in lit
                x, y = left + j * cell_width, top + i
                tint = fill or FILLS[colour] if is_lit else NONE
                self.cell((x, y), cell_width, 1, tint, colour)
                self.write((x + cell_width / 2, y + 0.5), text, INK if is_lit else GREY, size)
        if title:
            middle = left + len(rows[0]) * cell_width / 2
            self.write((middle, top - 0.3), title, colour, size, va="bottom")

    def arrow(
        self,
        start: Place,
        end: Place,
        label: str = "",
        *,
        colour: str = FORWARD,
        size: float = 10.5,
        lift: float = 0.25,
        head: float = 14,
        linewidth: float = 1.8,
    ) -> None:
        """Draw an arrow from `start` to `end` with `label` above its middle."""
        arrow = FancyArrowPatch(
            start, end, arrowstyle="-|>", mutation_scale=head, shrinkA=0, shrinkB=0
        )
        arrow.set(color=colour, linewidth=linewidth)
        self.axes.add_patch(arrow)
        if label:
            middle = ((start[0] + end[0]) / 2, (start[1] + end[1]) / 2 - lift)
            self.write(middle, label, colour, size, va="bottom", linespacing=1.15)


def symbols(letter: str, n_rows: int, n_columns: int) -> list[list[str]]:
    """Name the entries of a matrix called `letter`, as mathematics.

    >>> symbols("a", 1, 2)
    [['$a_{11}$', '$a_{12}$']]
    """
    return [
        [f"${letter}_{{{i}{j}}}$" for j in range(1, n_columns + 1)] for i in range(1, n_rows + 1)
    ]


def use_course_style() -> None:
    """Give the plots that a notebook draws with pyplot the look of the teaching figures."""
    plt.rcParams.update(_COURSE_STYLE)
