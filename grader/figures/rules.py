"""Pictures of the two rules that the whole backward pass is made of."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.patches import FancyBboxPatch

from grader.figures.matrix import draw_arrow
from grader.figures.style import BACKWARD, FORWARD, HAIRLINE, INK, PLAIN_FILL, Picture, canvas


def draw_box(
    axes: Axes,
    centre: tuple[float, float],
    text: str,
    *,
    width: float = 3.0,
    height: float = 1.6,
    edge: str = HAIRLINE,
    fill: str = PLAIN_FILL,
    fontsize: float = 12,
) -> None:
    """Draw a rounded box with `text` in it."""
    x, y = centre
    axes.add_patch(
        FancyBboxPatch(
            (x - width / 2, y - height / 2),
            width,
            height,
            boxstyle="round,pad=0,rounding_size=0.25",
            facecolor=fill,
            edgecolor=edge,
            linewidth=1.4,
        )
    )
    axes.text(x, y, text, ha="center", va="center", fontsize=fontsize, color=INK)


def one_step() -> Picture:
    """What a single step does on the way forward, and what on the way back."""
    figure, axes = canvas(13.0, 4.4)
    draw_box(axes, (6.5, 2.2), "$y = f(x)$", height=2.6)
    draw_arrow(axes, (0.6, 1.5), (4.9, 1.5), label="$x$", fontsize=13)
    draw_arrow(axes, (8.1, 1.5), (12.4, 1.5), label="$y$, on to the loss", fontsize=12)
    draw_arrow(axes, (12.4, 2.9), (8.1, 2.9), colour=BACKWARD)
    draw_arrow(axes, (4.9, 2.9), (0.6, 2.9), colour=BACKWARD)
    axes.text(10.25, 3.2, "dy arrives", ha="center", va="top", color=BACKWARD, fontsize=12)
    axes.text(
        2.75,
        3.2,
        r"dx = $f'(x)\cdot$ dy leaves",
        ha="center",
        va="top",
        color=BACKWARD,
        fontsize=12,
    )
    return Picture(
        figure,
        "A box holding y = f(x). Forward, x enters on the left and y leaves on the right towards "
        "the loss. Backward, dy enters on the right, is multiplied by the slope of f at x, and "
        "leaves on the left as dx.",
    )


def forks() -> Picture:
    """A value that two steps read, and the two gradients that meet there."""
    figure, axes = canvas(13.0, 6.4)
    axes.text(1.2, 3.2, "$x$", fontsize=15, ha="center", va="center", color=INK)
    for y, name in ((1.5, "f"), (4.9, "g")):
        draw_box(axes, (8.2, y), f"${'u' if name == 'f' else 'v'} = {name}(x)$")
        draw_arrow(axes, (9.9, y - 0.3), (12.4, y - 0.3))
        draw_arrow(axes, (12.4, y + 0.3), (9.9, y + 0.3), colour=BACKWARD)
    draw_arrow(axes, (1.7, 2.7), (6.5, 1.2))
    draw_arrow(axes, (1.7, 3.7), (6.5, 5.2))
    draw_arrow(axes, (6.5, 1.85), (2.3, 3.08), colour=BACKWARD)
    draw_arrow(axes, (6.5, 4.55), (2.3, 3.32), colour=BACKWARD)
    axes.text(4.6, 3.2, "the two add up", ha="left", va="center", color=BACKWARD, fontsize=12)
    axes.text(3.6, 1.2, "copied", ha="center", va="bottom", color=FORWARD, fontsize=12)
    return Picture(
        figure,
        "A value x goes forward into two boxes, u = f(x) and v = g(x). Backward, a gradient comes "
        "out of each box and the two are added where they meet at x.",
    )
