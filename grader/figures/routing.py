"""Pictures of steps that copy, add up or select."""

from __future__ import annotations

from matplotlib.axes import Axes

from grader.figures.matrix import draw_arrow, draw_matrix, symbols
from grader.figures.style import BACKWARD, BACKWARD_FILL, FORWARD, Picture, canvas

_WIDTH = 13.0


def picked_entries() -> Picture:
    """Three log-probabilities picked from a 3 by 4 matrix, and the gradient of their mean."""
    figure, axes = canvas(_WIDTH, 4.8)
    picked = [(0, 2), (1, 0), (2, 3)]
    values = symbols("a", 3, 4)
    gradient = [["$-1/3$" if (i, j) in picked else "$0$" for j in range(4)] for i in range(3)]
    draw_matrix(axes, 0.5, 1.2, values, title="forward: three entries are read", lit=picked)
    draw_matrix(
        axes,
        8.5,
        1.2,
        gradient,
        title="backward: only they matter",
        colour=BACKWARD,
        fill=BACKWARD_FILL,
        lit=picked,
    )
    axes.text(6.5, 2.1, r"loss $= -\frac{a_{13} + a_{21} + a_{34}}{3}$", ha="center", fontsize=13)
    draw_arrow(axes, (5.2, 3.5), (7.8, 3.5), label="gradient", colour=BACKWARD)
    return Picture(
        figure,
        "Two grids of three rows and four columns. Left, one entry in each row is marked: "
        "a13, a21 and a34; the loss is minus their mean. Right, the gradient: minus one third "
        "in the three marked places, zero in the other nine.",
    )


def _row_label(axes: Axes, y: float, text: str, colour: str) -> None:
    axes.text(0.35, y, text, color=colour, fontsize=11, rotation=90, ha="center", va="center")


def broadcast_and_sum() -> Picture:
    """A column that is copied and multiplied; backward, the product first, then the copies."""
    figure, axes = canvas(15.6, 10.1, scale=0.45)
    copies = [[f"$b_{i}$"] * 3 for i in (1, 2, 3)]
    products = [[f"$a_{{{i}{j}}} b_{i}$" for j in (1, 2, 3)] for i in (1, 2, 3)]
    sums = [[f"$g_{{{i}1}} + g_{{{i}2}} + g_{{{i}3}}$"] for i in (1, 2, 3)]
    upstream = [[rf"$\mathrm{{d}}m_{{{i}{j}}}$" for j in (1, 2, 3)] for i in (1, 2, 3)]

    def forward(left: float, rows: list[list[str]], title: str, cell_width: float = 1.0) -> None:
        draw_matrix(axes, left, 1.2, rows, title=title, cell_width=cell_width)

    def backward(left: float, rows: list[list[str]], title: str, cell_width: float = 1.0) -> None:
        draw_matrix(
            axes,
            left,
            6.0,
            rows,
            title=title,
            colour=BACKWARD,
            fill=BACKWARD_FILL,
            cell_width=cell_width,
        )

    _row_label(axes, 2.7, "forward", FORWARD)
    forward(2.0, [[f"$b_{i}$"] for i in (1, 2, 3)], "$b$  (3, 1)")
    draw_arrow(axes, (3.4, 2.7), (6.2, 2.7), label="each number is\ncopied 3 times")
    forward(6.5, copies, "the copies  (3, 3)")
    draw_arrow(axes, (9.8, 2.7), (11.6, 2.7), label="times $A$,\nplace\nby place")
    forward(11.9, products, "$M$  (3, 3)", 1.15)
    _row_label(axes, 7.5, "backward", BACKWARD)
    backward(0.9, sums, "gradient of $b$  (3, 1)", 3.4)
    draw_arrow(axes, (6.2, 7.5), (4.6, 7.5), label="the\ncopies\nadd up", colour=BACKWARD)
    backward(6.5, symbols("g", 3, 3), "one for each copy  (3, 3)")
    draw_arrow(axes, (11.6, 7.5), (9.8, 7.5), label="times $A$,\nplace\nby place", colour=BACKWARD)
    backward(11.9, upstream, "what arrives  (3, 3)", 1.15)
    axes.text(
        8.0,
        9.55,
        r"$g_{ij} = a_{ij}\,\mathrm{d}m_{ij}$",
        ha="center",
        va="center",
        color=BACKWARD,
        fontsize=12,
    )
    return Picture(
        figure,
        "Forward: a column b1, b2, b3 is copied along the rows into a 3 by 3 grid, so each "
        "number stands there three times; the grid times A, place by place, is M. Backward: the "
        "gradient dM that arrives, times A, place by place, gives nine gradients g, one for each "
        "copy: g11 is a11 times dm11, for instance. They are added up along the rows into a "
        "column again.",
    )


def sum_is_a_router() -> Picture:
    """The rows of a matrix added up, and each sum's gradient handed to all its terms."""
    figure, axes = canvas(_WIDTH, 9.6)
    sums = [[f"$a_{{{i}1}} + a_{{{i}2}} + a_{{{i}3}}$"] for i in (1, 2, 3)]
    copies = [[f"$g_{i}$"] * 3 for i in (1, 2, 3)]
    _row_label(axes, 2.7, "forward", FORWARD)
    draw_matrix(axes, 1.6, 1.2, symbols("a", 3, 3), title=r"$A$  (3, 3)")
    draw_arrow(axes, (5.0, 2.7), (8.5, 2.7), label="each row\nis added up")
    draw_matrix(axes, 8.9, 1.2, sums, title=r"$s$  (3, 1)", cell_width=3.4)
    _row_label(axes, 7.5, "backward", BACKWARD)
    draw_matrix(
        axes,
        1.6,
        6.0,
        copies,
        title="gradient of $A$  (3, 3)",
        colour=BACKWARD,
        fill=BACKWARD_FILL,
    )
    draw_arrow(
        axes, (9.7, 7.5), (5.0, 7.5), label="every term gets\nthe same gradient", colour=BACKWARD
    )
    draw_matrix(
        axes,
        10.1,
        6.0,
        [[f"$g_{i}$"] for i in (1, 2, 3)],
        title="gradient of $s$  (3, 1)",
        colour=BACKWARD,
        fill=BACKWARD_FILL,
    )
    return Picture(
        figure,
        "The mirror image of the copying in the picture before. Forward: the rows of a 3 by 3 "
        "grid are added up into a column. Backward: each number g1, g2, g3 of the column's "
        "gradient is copied to all three terms of its row.",
    )


def max_is_a_router() -> Picture:
    """Each row's largest entry, and the gradient that goes back to it alone."""
    figure, axes = canvas(_WIDTH, 9.6)
    rows = [["2", "7", "1", "4"], ["5", "3", "0", "1"], ["1", "2", "6", "8"]]
    winners = [(0, 1), (1, 0), (2, 3)]
    upstream = ["0.5", "-2", "3"]
    routed = [[upstream[i] if (i, j) in winners else "0" for j in range(4)] for i in range(3)]
    _row_label(axes, 2.7, "forward", FORWARD)
    draw_matrix(axes, 1.4, 1.2, rows, title=r"$A$  (3, 4)", lit=winners)
    draw_arrow(axes, (5.8, 2.7), (9.6, 2.7), label="each row's\nwinner passes")
    draw_matrix(axes, 10.3, 1.2, [["7"], ["5"], ["8"]], title=r"$m$  (3, 1)")
    _row_label(axes, 7.5, "backward", BACKWARD)
    draw_matrix(
        axes,
        1.4,
        6.0,
        routed,
        title="gradient of $A$  (3, 4)",
        colour=BACKWARD,
        fill=BACKWARD_FILL,
        lit=winners,
    )
    draw_arrow(
        axes, (9.6, 7.5), (5.8, 7.5), label="to the winner,\nnothing elsewhere", colour=BACKWARD
    )
    draw_matrix(
        axes,
        10.3,
        6.0,
        [[g] for g in upstream],
        title="gradient of $m$  (3, 1)",
        colour=BACKWARD,
        fill=BACKWARD_FILL,
    )
    return Picture(
        figure,
        "Forward: the largest entry of each row of a 3 by 4 grid (7, 5 and 8) passes into a "
        "column. Backward: the column's gradients 0.5, -2 and 3 go back to exactly those three "
        "places; the other nine places get zero.",
    )
