"""Pictures of steps that copy, add up or select."""

from __future__ import annotations

from grader.pictures.figures.sheet import (
    BACKWARD,
    FORK,
    FORWARD,
    INK,
    PINK,
    PLAIN_FILL,
    PURPLE,
    Picture,
    Sheet,
    new_sheet,
    symbols,
)

_WIDTH = 13.0
_LETTER_TINTS = {".": f"{PINK}33", "a": f"{PURPLE}33", "m": f"{FORK}33", "e": PLAIN_FILL}
"""None of them blue or orange, which are forward and backward."""


def picked_entries() -> Picture:
    """Three log-probabilities picked from a 3 by 4 matrix, and the gradient of their mean."""
    sheet = new_sheet(_WIDTH, 4.8)
    picked = [(0, 2), (1, 0), (2, 3)]
    values = symbols("a", 3, 4)
    gradient = [["$-1/3$" if (i, j) in picked else "$0$" for j in range(4)] for i in range(3)]
    sheet.matrix(0.5, 1.2, values, "forward: three entries are read", lit=picked)
    title = "backward: only they matter"
    sheet.matrix(8.5, 1.2, gradient, title, colour=BACKWARD, lit=picked)
    loss = r"loss $= -\frac{a_{13} + a_{21} + a_{34}}{3}$"
    sheet.write((6.5, 2.1), loss, INK, 13, va="baseline")
    sheet.arrow((5.2, 3.5), (7.8, 3.5), "gradient", colour=BACKWARD)
    return sheet.picture(
        "Two grids of three rows and four columns. Left, one entry in each row is marked: "
        "a13, a21 and a34; the loss is minus their mean. Right, the gradient: minus one third "
        "in the three marked places, zero in the other nine."
    )


def _row_labels(sheet: Sheet) -> None:
    for y, text, colour in ((2.7, "forward", FORWARD), (7.5, "backward", BACKWARD)):
        sheet.write((0.35, y), text, colour, 11, rotation=90)


def broadcast_and_sum() -> Picture:
    """A column that is copied and multiplied; backward, the product first, then the copies."""
    sheet = new_sheet(16.2, 10.1, scale=0.41)
    copies = [[f"$b_{i}$"] * 3 for i in (1, 2, 3)]
    products = [[f"$a_{{{i}{j}}} b_{i}$" for j in (1, 2, 3)] for i in (1, 2, 3)]
    sums = [[f"$g_{{{i}1}} + g_{{{i}2}} + g_{{{i}3}}$"] for i in (1, 2, 3)]
    upstream = [[rf"$\mathrm{{d}}m_{{{i}{j}}}$" for j in (1, 2, 3)] for i in (1, 2, 3)]
    _row_labels(sheet)
    sheet.matrix(2.0, 1.2, [[f"$b_{i}$"] for i in (1, 2, 3)], "$b$  (3, 1)")
    sheet.arrow((3.4, 2.7), (6.2, 2.7), "each number is\ncopied 3 times")
    sheet.matrix(6.5, 1.2, copies, "the copies  (3, 3)")
    sheet.arrow((9.8, 2.7), (11.6, 2.7), "times $A$,\nplace\nby place")
    sheet.matrix(11.9, 1.2, products, "$M$  (3, 3)", cell_width=1.35)
    sheet.matrix(0.9, 6.0, sums, "gradient of $b$  (3, 1)", colour=BACKWARD, cell_width=3.4)
    sheet.arrow((6.2, 7.5), (4.6, 7.5), "the\ncopies\nadd up", colour=BACKWARD)
    sheet.matrix(6.5, 6.0, symbols("g", 3, 3), "one for each copy  (3, 3)", colour=BACKWARD)
    sheet.arrow((11.6, 7.5), (9.8, 7.5), "times $A$,\nplace\nby place", colour=BACKWARD)
    sheet.matrix(11.9, 6.0, upstream, "what arrives  (3, 3)", colour=BACKWARD, cell_width=1.35)
    sheet.write((8.0, 9.55), r"$g_{ij} = a_{ij}\,\mathrm{d}m_{ij}$", BACKWARD, 12)
    return sheet.picture(
        "Forward: a column b1, b2, b3 is copied along the rows into a 3 by 3 grid, so each "
        "number stands there three times; the grid times A, place by place, is M. Backward: the "
        "gradient dM that arrives, times A, place by place, gives nine gradients g, one for each "
        "copy: g11 is a11 times dm11, for instance. They are added up along the rows into a "
        "column again."
    )


def sum_is_a_router() -> Picture:
    """The rows of a matrix added up, and each sum's gradient handed to all its terms."""
    sheet = new_sheet(_WIDTH, 9.6)
    sums = [[f"$a_{{{i}1}} + a_{{{i}2}} + a_{{{i}3}}$"] for i in (1, 2, 3)]
    copies = [[f"$g_{i}$"] * 3 for i in (1, 2, 3)]
    upstream = [[f"$g_{i}$"] for i in (1, 2, 3)]
    _row_labels(sheet)
    sheet.matrix(1.6, 1.2, symbols("a", 3, 3), r"$A$  (3, 3)")
    sheet.arrow((5.0, 2.7), (8.5, 2.7), "each row\nis added up")
    sheet.matrix(8.9, 1.2, sums, r"$s$  (3, 1)", cell_width=3.4)
    sheet.matrix(1.6, 6.0, copies, "gradient of $A$  (3, 3)", colour=BACKWARD)
    sheet.arrow((9.7, 7.5), (5.0, 7.5), "every term gets\nthe same gradient", colour=BACKWARD)
    sheet.matrix(10.1, 6.0, upstream, "gradient of $s$  (3, 1)", colour=BACKWARD)
    return sheet.picture(
        "A sum, the mirror image of a copy. Forward: the rows of a 3 by 3 grid are added up "
        "into a column. Backward: each number g1, g2, g3 of the column's gradient is copied to "
        "all three terms of its row."
    )


def max_is_a_router() -> Picture:
    """Each row's largest entry, and the gradient that goes back to it alone."""
    sheet = new_sheet(_WIDTH, 9.6)
    rows = [["2", "7", "1", "4"], ["5", "3", "0", "1"], ["1", "2", "6", "8"]]
    winners = [(0, 1), (1, 0), (2, 3)]
    upstream = ["0.5", "-2", "3"]
    routed = [[upstream[i] if (i, j) in winners else "0" for j in range(4)] for i in range(3)]
    column = [[gradient] for gradient in upstream]
    _row_labels(sheet)
    sheet.matrix(1.4, 1.2, rows, r"$A$  (3, 4)", lit=winners)
    sheet.arrow((5.8, 2.7), (9.6, 2.7), "each row's\nwinner passes")
    sheet.matrix(10.3, 1.2, [["7"], ["5"], ["8"]], r"$m$  (3, 1)")
    sheet.matrix(1.4, 6.0, routed, "gradient of $A$  (3, 4)", colour=BACKWARD, lit=winners)
    sheet.arrow((9.6, 7.5), (5.8, 7.5), "to the winner,\nnothing elsewhere", colour=BACKWARD)
    sheet.matrix(10.3, 6.0, column, "gradient of $m$  (3, 1)", colour=BACKWARD)
    return sheet.picture(
        "Forward: the largest entry of each row of a 3 by 4 grid (7, 5 and 8) passes into a "
        "column. Backward: the column's gradients 0.5, -2 and 3 go back to exactly those three "
        "places; the other nine places get zero."
    )


def lookups_and_repeats() -> Picture:
    """The table rows that three windows read, and the gradient each row collects."""
    sheet = new_sheet(13.0, 7.4)
    sheet.write((2.6, 0.6), "Xb: what is looked up", FORWARD, 11, va="baseline")
    for i, window in enumerate(("...", "..m", ".ma")):
        for j, letter in enumerate(window):
            x, y = 0.8 + 1.2 * j, 1.2 + 1.2 * i
            tint = _LETTER_TINTS[letter]
            sheet.cell((x, y), 1.2, 1.2, tint, FORWARD)
            sheet.write((x + 0.6, y + 0.42), letter, INK, 13, weight="bold")
            sheet.write((x + 0.6, y + 0.86), f"$g_{{{i + 1}{j + 1}}}$", BACKWARD, 11)
    sheet.arrow((4.7, 3.0), (6.0, 3.0), colour=BACKWARD)
    sheet.write((9.5, 0.6), "gradient of the table", BACKWARD, 11, va="baseline")
    collected = {
        ".": r"$g_{11}+g_{12}+g_{13}$" + "\n" + r"$+\,g_{21}+g_{22}+g_{31}$",
        "a": "$g_{33}$",
        "e": "0",
        "m": "$g_{23}+g_{32}$",
    }
    for k, (letter, total) in enumerate(collected.items()):
        top = 1.2 + 1.3 * k
        sheet.write((6.7, top + 0.65), letter, INK, 13, weight="bold")
        tint = _LETTER_TINTS[letter]
        sheet.cell((7.2, top), 5.2, 1.3, tint, BACKWARD)
        sheet.write((9.8, top + 0.65), total, INK, 11.5)
    legend = "$g_{ij}$: the gradient that\narrives at this place"
    sheet.write((2.6, 5.6), legend, BACKWARD, va="baseline")
    return sheet.picture(
        "Left, three windows of three letters: dot dot dot, dot dot m, dot m a; at each of the "
        "nine places a gradient arrives. Right, the gradient of the table of letters: the row of "
        "the dot collects six of the nine, the row of m two, the row of a one, the row of e, "
        "which no window contains, nothing."
    )
