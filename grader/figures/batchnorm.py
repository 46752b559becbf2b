"""A picture of batch normalisation as a graph of small steps."""

from __future__ import annotations

from typing import Final

from grader.figures.matrix import draw_arrow
from grader.figures.rules import draw_box
from grader.figures.style import (
    FORK,
    FORK_FILL,
    GREY,
    HAIRLINE,
    PLAIN_FILL,
    Picture,
    canvas,
)

_LEFT: Final = 3.0
_RIGHT: Final = 9.6
_HALF_WIDTH: Final = 2.2
_HALF_HEIGHT: Final = 0.55
_PLACES: Final = {
    "hprebn": (_LEFT, 1.2),
    "bnmeani": (_RIGHT, 2.9),
    "bndiff": (_LEFT, 4.6),
    "bndiff2": (_RIGHT, 6.3),
    "bnvar": (_RIGHT, 8.5),
    "bnvar_inv": (_RIGHT, 10.7),
    "bnraw": (_LEFT, 10.7),
    "hpreact": (_LEFT, 13.3),
}
_READ_TWICE: Final = ("hprebn", "bndiff")
_ONE_ROW: Final = ("bnmeani", "bnvar", "bnvar_inv")


def batchnorm_graph() -> Picture:
    """From `hprebn` to `hpreact`: every tensor, every reader, the two forks marked."""
    figure, axes = canvas(13.0, 14.4)
    for name, place in _PLACES.items():
        twice = name in _READ_TWICE
        draw_box(
            axes,
            place,
            f"{name}  ({'1' if name in _ONE_ROW else 'n'}, H)",
            width=2 * _HALF_WIDTH,
            height=2 * _HALF_HEIGHT,
            edge=FORK if twice else HAIRLINE,
            fill=FORK_FILL if twice else PLAIN_FILL,
            fontsize=11,
        )

    def down(source: str, target: str) -> None:
        (x, y), (_, below) = _PLACES[source], _PLACES[target]
        draw_arrow(axes, (x, y + _HALF_HEIGHT), (x, below - _HALF_HEIGHT))

    def across(source: str, target: str) -> None:
        (x, y), (end_x, end_y) = _PLACES[source], _PLACES[target]
        side = 1 if end_x > x else -1
        draw_arrow(axes, (x + side * _HALF_WIDTH, y), (end_x - side * _HALF_WIDTH, end_y))

    for source, target in (("hprebn", "bndiff"), ("bndiff", "bnraw"), ("bnraw", "hpreact")):
        down(source, target)
    for source, target in (("bndiff2", "bnvar"), ("bnvar", "bnvar_inv")):
        down(source, target)
    for source, target in (
        ("hprebn", "bnmeani"),
        ("bnmeani", "bndiff"),
        ("bndiff", "bndiff2"),
        ("bnvar_inv", "bnraw"),
    ):
        across(source, target)

    for x, y, text in (
        (8.0, 1.7, "average of each column"),
        (7.3, 4.2, "subtracted"),
        (7.3, 5.1, "squared"),
        (9.75, 7.4, "averaged over $n - 1$"),
        (9.75, 9.6, r"to the power $-\frac{1}{2}$"),
        (6.3, 10.4, "scales"),
        (3.2, 12.0, "times bngain, plus bnbias"),
    ):
        axes.text(x, y, text, ha="left", va="center", color=GREY, fontsize=10)
    for name in _READ_TWICE:
        x, y = _PLACES[name]
        axes.text(x - 0.2, y + 0.95, "read twice", ha="right", va="center", color=FORK)
    return Picture(
        figure,
        "A graph that runs downwards from hprebn to hpreact. hprebn is read twice: by bnmeani, "
        "the average of each column, and by bndiff, from which the mean is subtracted. bndiff is "
        "read twice as well: by bnraw, and by bndiff2, which leads through bnvar and bnvar_inv to "
        "bnraw. bnraw times bngain plus bnbias is hpreact.",
    )
