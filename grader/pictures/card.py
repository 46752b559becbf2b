"""The near-white card that a picture is drawn on, on a white page or a dark one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

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


class Card:
    """An empty card whose axes are in pixels from the top left.

    Outside its rounded corners the figure is transparent.

    Args:
        width: in pixels.
        height: in pixels.
        words: the figure's label, a text for those who cannot see it.
    """

    def __init__(self, width: float, height: float, words: str) -> None:
        self.figure = Figure(figsize=(width / DPI, height / DPI), dpi=DPI, facecolor="none")
        self.figure.set_label(words)
        self.axes = self.figure.add_axes((0, 0, 1, 1), facecolor="none")
        self.axes.set_xlim(0, width)
        self.axes.set_ylim(height, 0)
        self.axes.set_axis_off()
        inset = _CORNER + 1
        self.axes.add_patch(
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

    def write(
        self,
        x: float,
        y: float,
        text: str,
        pixels: float,
        colour: str = INK,
        *,
        bold: bool = False,
        ha: str = "left",
        va: str = "top",
    ) -> None:
        """Write a text with its top left corner at (x, y), or what `ha` and `va` name."""
        properties = font(pixels, bold)
        self.axes.text(x, y, text, color=colour, fontproperties=properties, ha=ha, va=va)

    def write_lines(
        self,
        lines: Sequence[str],
        left: float,
        top: float,
        pixels: float,
        *,
        bold: bool = False,
    ) -> float:
        """Write lines of text one below the other and return the y below the last."""
        for line in lines:
            self.write(left, top, line, pixels, bold=bold)
            top += line_height(pixels)
        return top


def points(pixels: float) -> float:
    """Convert a font size or a line width from pixels to points, matplotlib's unit for both."""
    return pixels * 72 / DPI


def font(pixels: float, bold: bool) -> FontProperties:
    """The font of all cards, in a size given in pixels."""
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
def text_width(text: str, pixels: float, bold: bool) -> float:
    """Measure how wide a text will be, in pixels, without a renderer."""
    if not text.strip():
        return 0.0
    path = TextPath((0, 0), text, size=pixels, prop=font(pixels, bold), usetex=False)
    return float(path.get_extents().width)


def wrap(text: str, pixels: float, width: float, bold: bool = False) -> list[str]:
    """Break a text into lines of at most `width` pixels, never inside brackets."""
    lines = [""]
    for word in re.findall(r"(?:[^ (\[]|[(\[][^)\]]*[)\]]?)+", text):
        longer = f"{lines[-1]} {word}".strip()
        if lines[-1] and text_width(longer, pixels, bold) > width:
            lines.append(word)
        else:
            lines[-1] = longer
    return lines


def line_height(pixels: float) -> float:
    """The distance from one line of text to the next, in pixels."""
    return round(1.42 * pixels)
