"""The near-white card that a picture is drawn on, the same on a white page as on a dark one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.patches import FancyBboxPatch
from matplotlib.textpath import TextPath

INK = "#1c1c1e"
QUIET = "#6b6b73"
PAPER = "#fcfcfa"
RIM = "#d8d8d2"

FONT = "DejaVu Sans"
"""Comes with matplotlib, so that pictures look the same everywhere."""

DPI = 100
_CORNER = 14.0


def new_card(width: float, height: float) -> tuple[Figure, Axes]:
    """An empty card of `width` times `height` pixels, with axes in pixels from the top left.

    Outside its rounded corners the figure is transparent.
    """
    figure = Figure(figsize=(width / DPI, height / DPI), dpi=DPI, facecolor="none")
    axes = figure.add_axes((0, 0, 1, 1), facecolor="none")
    axes.set_xlim(0, width)
    axes.set_ylim(height, 0)
    axes.set_axis_off()
    inset = _CORNER + 1
    axes.add_patch(
        FancyBboxPatch(
            (inset, inset),
            width - 2 * inset,
            height - 2 * inset,
            boxstyle=f"round,pad={_CORNER}",
            facecolor=PAPER,
            edgecolor=RIM,
            linewidth=1,
            zorder=-1,
        )
    )
    return figure, axes


def points(pixels: float) -> float:
    """A font size or a line width in points, matplotlib's unit for both."""
    return pixels * 72 / DPI


def font(pixels: float, bold: bool = False) -> FontProperties:
    # Everything is set, so that a reader's own style sheet changes nothing.
    return FontProperties(
        family=FONT,
        style="normal",
        variant="normal",
        weight="bold" if bold else "normal",
        stretch="normal",
        size=points(pixels),
    )


@lru_cache(maxsize=1024)
def text_width(text: str, pixels: float, bold: bool = False) -> float:
    """How wide a text will be, in pixels; needs no renderer."""
    if not text.strip():
        return 0.0
    path = TextPath((0, 0), text, size=pixels, prop=font(pixels, bold), usetex=False)
    return float(path.get_extents().width)


def wrap(text: str, pixels: float, width: float, bold: bool = False) -> list[str]:
    """Break a text into lines of at most `width` pixels, between words but in no bracket."""
    lines = [""]
    for word in re.split(r" +(?![^(\[]*[)\]])", text):
        longer = f"{lines[-1]} {word}".strip()
        if lines[-1] and text_width(longer, pixels, bold) > width:
            lines.append(word)
        else:
            lines[-1] = longer
    return lines


def write_lines(
    axes: Axes,
    lines: Sequence[str],
    left: float,
    top: float,
    pixels: float,
    *,
    colour: str = INK,
    bold: bool = False,
) -> float:
    """Write lines of text one below the other; the place below the last is returned."""
    for line in lines:
        axes.text(left, top, line, va="top", color=colour, fontproperties=font(pixels, bold))
        top += line_height(pixels)
    return top


def line_height(pixels: float) -> float:
    return round(1.42 * pixels)
