"""A picture of the shapes that meet in a matrix product."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from grader.figures.style import (
    BACKWARD,
    BACKWARD_FILL,
    FORWARD,
    FORWARD_FILL,
    GREY,
    INK,
    PAPER,
    Picture,
    canvas,
)


def _block(
    axes: Axes,
    left: float,
    top: float,
    size: tuple[float, float],
    name: str,
    sides: tuple[str, str],
    *,
    colours: tuple[str, str],
    unknown: bool = False,
) -> None:
    """Draw a matrix as a block.

    `size` and `sides` are (rows, columns), as lengths and as names; `colours` are (edge, fill).
    """
    edge, fill = colours
    height, width = size
    axes.add_patch(
        Rectangle(
            (left, top),
            width,
            height,
            facecolor=PAPER if unknown else fill,
            edgecolor=edge,
            linewidth=1.4,
            linestyle="--" if unknown else "-",
        )
    )
    axes.text(
        left + width / 2, top + height / 2, name, ha="center", va="center", fontsize=13, color=INK
    )
    axes.text(left - 0.2, top + height / 2, sides[0], ha="right", va="center", color=GREY)
    axes.text(left + width / 2, top - 0.15, sides[1], ha="center", va="bottom", color=GREY)


def which_product() -> Picture:
    """The blocks of a product forward, and those from which its gradients must be built."""
    figure, axes = canvas(13.0, 12.2)
    n, k, m = 1.7, 2.9, 2.1
    blue = (FORWARD, FORWARD_FILL)
    orange = (BACKWARD, BACKWARD_FILL)

    def word(x: float, y: float, text: str, *, colour: str = GREY, size: float = 12) -> None:
        axes.text(x, y, text, ha="center", va="center", color=colour, fontsize=size)

    word(1.6, 0.5, "forward", colour=FORWARD)
    _block(axes, 1.5, 1.9, (n, k), "$A$", ("$n$", "$k$"), colours=blue)
    word(5.05, 2.75, "@", size=14)
    _block(axes, 6.2, 1.25, (k, m), "$B$", ("$k$", "$m$"), colours=blue)
    word(9.05, 2.75, "=", size=14)
    _block(axes, 10.3, 1.9, (n, m), "$Y$", ("$n$", "$m$"), colours=blue)

    word(1.6, 5.0, "backward", colour=BACKWARD)
    _block(axes, 1.5, 6.3, (n, k), "d$A$ = ?", ("$n$", "$k$"), colours=orange, unknown=True)
    word(5.25, 7.15, "from")
    _block(axes, 6.5, 6.3, (n, m), "d$Y$", ("$n$", "$m$"), colours=orange)
    word(9.5, 7.15, "and")
    _block(axes, 10.6, 5.65, (k, m), "$B$", ("$k$", "$m$"), colours=blue)
    _block(axes, 1.9, 9.0, (k, m), "d$B$ = ?", ("$k$", "$m$"), colours=orange, unknown=True)
    word(5.0, 10.5, "from")
    _block(axes, 6.1, 9.65, (n, m), "d$Y$", ("$n$", "$m$"), colours=orange)
    word(8.85, 10.5, "and")
    _block(axes, 9.85, 9.65, (n, k), "$A$", ("$n$", "$k$"), colours=blue)
    return Picture(
        figure,
        "Blocks with their sides named. Forward: A, n by k, times B, k by m, gives Y, n by m. "
        "Backward, two puzzles: dA, n by k, is to be made from dY, n by m, and B, k by m; "
        "dB, k by m, is to be made from dY, n by m, and A, n by k.",
    )
