"""The look that all teaching figures share."""

from __future__ import annotations

from dataclasses import dataclass
from io import BytesIO
from typing import Final

import matplotlib.pyplot as plt
from cycler import cycler
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from grader import card

# Okabe and Ito's palette: its colours stay apart for every common kind of colour blindness.
BLUE: Final = "#0072B2"
ORANGE: Final = "#D55E00"
GREEN: Final = "#009E73"
YELLOW: Final = "#E69F00"
PINK: Final = "#CC79A7"
SKY: Final = "#56B4E9"

# The board's ink and its opaque, near-white sheet, readable in a light notebook and in a dark one.
INK: Final = card.INK
PAPER: Final = card.PAPER
GREY: Final = "#5F6570"
HAIRLINE: Final = "#9CA3AF"

FORWARD: Final = BLUE
BACKWARD: Final = ORANGE
FORWARD_FILL: Final = "#DCEBF5"
BACKWARD_FILL: Final = "#FBE3D3"
FORK: Final = GREEN
FORK_FILL: Final = "#D5EFE6"
PLAIN_FILL: Final = "#F3F4F6"

SHARP: Final = 2  # rendered pixels for each displayed one, for high-density screens
PIXELS_PER_INCH: Final = 96


@dataclass(frozen=True, slots=True, eq=False)
class Picture:
    """A figure together with the words that stand for it where it cannot be seen.

    Jupyter shows it as a PNG image that carries `alt`; a terminal prints `alt`. It is no
    matplotlib `Figure` itself, so it shows in a notebook whichever backend is active.
    """

    figure: Figure
    alt: str

    def __repr__(self) -> str:
        return f"<Picture: {self.alt}>"

    def png(self) -> bytes:
        """The picture as the bytes of a PNG file."""
        buffer = BytesIO()
        self.figure.savefig(
            buffer, format="png", dpi=SHARP * PIXELS_PER_INCH, facecolor=PAPER, metadata={}
        )
        return buffer.getvalue()

    def _repr_png_(self) -> tuple[bytes, dict[str, object]]:
        width = round(self.figure.get_figwidth() * PIXELS_PER_INCH)
        return self.png(), {"alt": self.alt, "width": width}


def canvas(width: float, height: float, *, scale: float = 0.5) -> tuple[Figure, Axes]:
    """An empty sheet of `width` by `height` units whose origin is the top left corner.

    `scale` is the length of a unit in inches: one cell of a drawn matrix is one unit.
    """
    figure = Figure(figsize=(width * scale, height * scale), facecolor=PAPER)
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    axes.set_xlim(0, width)
    axes.set_ylim(height, 0)
    axes.set_axis_off()
    return figure, axes


def use_course_style() -> None:
    """Give the plots that a notebook draws with pyplot the look of the teaching figures."""
    plt.rcParams.update(
        {
            "figure.facecolor": PAPER,
            "figure.figsize": (6.8, 3.2),
            "figure.dpi": 110,
            "axes.facecolor": PAPER,
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
            "axes.prop_cycle": cycler(color=[BLUE, ORANGE, GREEN, YELLOW, PINK, SKY]),
            "grid.color": "#E5E7EB",
            "text.color": INK,
            "xtick.color": GREY,
            "ytick.color": GREY,
            "lines.linewidth": 2.0,
            "legend.frameon": False,
            "legend.fontsize": 10,
            "font.size": 10.5,
        }
    )
