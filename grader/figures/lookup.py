"""Pictures of a view and of a table whose rows are looked up."""

from __future__ import annotations

from typing import Final

from matplotlib.patches import Rectangle

from grader.figures.matrix import draw_arrow, draw_matrix
from grader.figures.style import (
    BACKWARD,
    FORWARD,
    GREY,
    INK,
    Picture,
    canvas,
)

_TINTS: Final = ("#DCEBF5", "#D5EFE6", "#FBEBCF")
_LETTER_TINTS: Final = {".": "#FBE3D3", "a": "#DCEBF5", "m": "#D5EFE6", "e": "#F3F4F6"}


def view_is_a_relabelling() -> Picture:
    """Two examples of three positions laid side by side: the same numbers, other brackets."""
    figure, axes = canvas(13.0, 5.4)
    for example in (0, 1):
        axes.text(
            0.5 + 2.7 * example + 1.0,
            0.6,
            f"example {example + 1}",
            ha="center",
            color=GREY,
            fontsize=11,
        )
        for position in (0, 1, 2):
            first = 6 * example + 2 * position + 1
            draw_matrix(
                axes,
                0.5 + 2.7 * example,
                1.0 + position,
                [[str(first), str(first + 1)]],
                fill=_TINTS[position],
            )
            draw_matrix(
                axes,
                6.8 + 2 * position,
                1.5 + example,
                [[str(first), str(first + 1)]],
                fill=_TINTS[position],
            )
    draw_arrow(axes, (5.4, 2.3), (6.6, 2.3), label="view")
    draw_arrow(axes, (6.6, 2.9), (5.4, 2.9), colour=BACKWARD)
    axes.text(6.0, 3.05, "back", ha="center", va="top", color=BACKWARD, fontsize=10.5)
    axes.text(2.85, 4.7, "(2, 3, 2)", ha="center", color=INK, fontsize=11)
    axes.text(9.8, 4.7, "(2, 6)", ha="center", color=INK, fontsize=11)
    return Picture(
        figure,
        "Left, two examples, each three rows of two numbers, together 1 to 12. Right, the same "
        "numbers in the same order as two rows of six. Arrows lead from left to right (view) and "
        "back.",
    )


def lookups_and_repeats() -> Picture:
    """The table rows that three windows read, and the gradient each row collects."""
    figure, axes = canvas(13.0, 7.4)
    windows = ("...", "..m", ".ma")
    axes.text(2.6, 0.6, "Xb: what is looked up", ha="center", color=FORWARD, fontsize=11)
    for i, window in enumerate(windows):
        for j, letter in enumerate(window):
            place = (0.8 + 1.2 * j, 1.2 + 1.2 * i)
            axes.add_patch(
                Rectangle(
                    place, 1.2, 1.2, facecolor=_LETTER_TINTS[letter], edgecolor=FORWARD, lw=1.2
                )
            )
            axes.text(
                place[0] + 0.6,
                place[1] + 0.42,
                letter,
                ha="center",
                va="center",
                fontsize=13,
                color=INK,
                weight="bold",
            )
            axes.text(
                place[0] + 0.6,
                place[1] + 0.86,
                f"$g_{{{i + 1}{j + 1}}}$",
                ha="center",
                va="center",
                fontsize=11,
                color=BACKWARD,
            )
    draw_arrow(axes, (4.7, 3.0), (6.0, 3.0), colour=BACKWARD)
    axes.text(9.5, 0.6, "gradient of the table", ha="center", color=BACKWARD, fontsize=11)
    collected = {
        ".": r"$g_{11}+g_{12}+g_{13}$" + "\n" + r"$+\,g_{21}+g_{22}+g_{31}$",
        "a": "$g_{33}$",
        "e": "0",
        "m": "$g_{23}+g_{32}$",
    }
    for k, (letter, total) in enumerate(collected.items()):
        top = 1.2 + 1.3 * k
        axes.text(6.7, top + 0.65, letter, ha="center", va="center", fontsize=13, weight="bold")
        axes.add_patch(
            Rectangle(
                (7.2, top), 5.2, 1.3, facecolor=_LETTER_TINTS[letter], edgecolor=BACKWARD, lw=1.2
            )
        )
        axes.text(9.8, top + 0.65, total, ha="center", va="center", fontsize=11.5, color=INK)
    axes.text(
        2.6, 5.6, "$g_{ij}$: the gradient that\narrives at this place", ha="center", color=BACKWARD
    )
    return Picture(
        figure,
        "Left, three windows of three letters: dot dot dot, dot dot m, dot m a; at each of the "
        "nine places a gradient arrives. Right, the gradient of the table of letters: the row of "
        "the dot collects six of the nine, the row of m two, the row of a one, the row of e, "
        "which no window contains, nothing.",
    )
