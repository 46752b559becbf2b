"""The near-white card that a picture is drawn on, the same on a white page as on a dark one."""

from __future__ import annotations

from functools import lru_cache

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.patches import FancyBboxPatch
from matplotlib.textpath import TextPath

INK = "#1c1c1e"
QUIET = "#6b6b73"
PAPER = "#fcfcfa"
EDGE = "#d8d8d2"

FONT = "DejaVu Sans"
"""Comes with matplotlib, so that pictures look the same everywhere."""

_DPI = 100
_CORNER = 14.0


def new_card(width: float, height: float) -> tuple[Figure, Axes]:
    """An empty card of `width` times `height` pixels, with axes in pixels from the top left."""
    figure = Figure(figsize=(width / _DPI, height / _DPI), dpi=_DPI, facecolor="none")
    axes = figure.add_axes((0, 0, 1, 1), facecolor="none")
    axes.set_xlim(0, width)
    axes.set_ylim(height, 0)
    axes.set_axis_off()
    axes.add_patch(
        FancyBboxPatch(
            (_CORNER + 1, _CORNER + 1),
            width - 2 * _CORNER - 2,
            height - 2 * _CORNER - 2,
            boxstyle=f"round,pad={_CORNER}",
            facecolor=PAPER,
            edgecolor=EDGE,
            linewidth=1,
            zorder=-10,
        )
    )
    return figure, axes


def points(pixels: float) -> float:
    """A font size or line width in points, matplotlib's unit for both."""
    return pixels * 72 / _DPI


def font(pixels: float, bold: bool = False) -> FontProperties:
    return FontProperties(
        family=FONT, size=points(pixels), weight="bold" if bold else "normal", style="normal"
    )


@lru_cache(maxsize=1024)
def text_width(text: str, pixels: float, bold: bool = False) -> float:
    """How wide a text will be, in pixels; needs no renderer."""
    if not text.strip():
        return 0.0
    path = TextPath((0, 0), text, size=pixels, prop=font(pixels, bold))
    return float(path.get_extents().width)


def wrap(text: str, pixels: float, width: float, bold: bool = False) -> list[str]:
    """Break a text between words into lines of at most `width` pixels."""
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if lines[-1] and text_width(longer, pixels, bold) > width:
            lines.append(word)
        else:
            lines[-1] = longer
    return lines
