"""Pictures of the rules that the whole backward pass is made of."""

from __future__ import annotations

import numpy as np

from grader.pictures.figures.sheet import (
    BACKWARD,
    FILLS,
    FORWARD,
    GREEN,
    GREY,
    INK,
    NONE,
    PINK,
    Picture,
    Sheet,
    new_axes,
    new_sheet,
    styled,
)

CHORDS = {"one-sided": (PINK, "s"), "central": (GREEN, "o")}
"""The colour and the marker of each chord."""


@styled
def chords() -> Picture:
    """A curve, its tangent, and the two chords that stand in for the tangent."""
    point, step = 1.0, 0.6

    def curve(x: np.ndarray) -> np.ndarray:
        return 0.08 * x**3 + 0.45 * x**2 - 0.15 * x + 0.4

    slope = 3 * 0.08 * point**2 + 2 * 0.45 * point - 0.15
    figure, (axes,) = new_axes(5.4, 3.2)
    x = np.linspace(0.0, 2.0, 200)
    middle, right = np.array(point), np.array(point + step)
    left, far = np.array(point - step), np.array(2.0)
    axes.plot(x, curve(x), color=INK, linewidth=2.2)
    back = middle - 0.85
    ends = [curve(middle) + slope * (at - middle) for at in (back, far)]
    axes.plot([back, far], ends, color=GREY, linestyle=(0, (4, 3)))
    named = [("tangent", ends[1], GREY)]
    for words, start, (colour, marker) in (
        ("one-sided chord", middle, CHORDS["one-sided"]),
        ("central chord", left, CHORDS["central"]),
    ):
        rise = (curve(right) - curve(start)) / (right - start)
        beyond = curve(right) + rise * (far - right)
        axes.plot([start, right], [curve(start), curve(right)], color=colour, marker=marker)
        axes.plot([right, far], [curve(right), beyond], color=colour, linewidth=1.2)
        named.append((words, beyond, colour))
    axes.plot(middle, curve(middle), color=INK, marker="o", markersize=7)
    # Beside the lines' ends, where nothing crosses them.
    for words, height, colour in named:
        axes.text(2.04, height, words, color=colour, fontsize=12, va="center")
    axes.set_xlim(-0.1, 2.85)
    labels = [r"$x-\delta$", "$x$", r"$x+\delta$"]
    axes.set_xticks([point - step, point, point + step], labels, fontsize=12)
    axes.set_yticks([])
    axes.grid(visible=False)
    return Picture(
        figure,
        "A rising curve with its tangent at x. The chord from x to x + δ is clearly steeper than "
        "the tangent; the chord from x - δ to x + δ is nearly parallel to it.",
    )


def one_step() -> Picture:
    """What a single step does on the way forward, and what on the way back."""
    sheet = new_sheet(13.0, 4.4)
    sheet.box((6.5, 2.2), "$y = f(x)$", height=2.6)
    sheet.arrow((0.6, 1.5), (4.9, 1.5), "$x$", size=13)
    sheet.arrow((8.1, 1.5), (12.4, 1.5), "$y$, on to the loss", size=12)
    sheet.arrow((12.4, 2.9), (8.1, 2.9), colour=BACKWARD)
    sheet.arrow((4.9, 2.9), (0.6, 2.9), colour=BACKWARD)
    sheet.write((10.25, 3.2), "dy arrives", BACKWARD, 12, va="top")
    sheet.write((2.75, 3.2), r"dx = $f'(x)\cdot$ dy leaves", BACKWARD, 12, va="top")
    return sheet.picture(
        "A box holding y = f(x). Forward, x enters on the left and y leaves on the right towards "
        "the loss. Backward, dy enters on the right, is multiplied by the slope of f at x, and "
        "leaves on the left as dx."
    )


def forks() -> Picture:
    """A value that two steps read, and the two gradients that meet there."""
    sheet = new_sheet(13.0, 6.4)
    sheet.write((1.2, 3.2), "$x$", INK, 15)
    for y, name in ((1.5, "f"), (4.9, "g")):
        sheet.box((8.2, y), f"${'u' if name == 'f' else 'v'} = {name}(x)$")
        sheet.arrow((9.9, y - 0.3), (12.4, y - 0.3))
        sheet.arrow((12.4, y + 0.3), (9.9, y + 0.3), colour=BACKWARD)
    sheet.arrow((1.7, 2.7), (6.5, 1.2))
    sheet.arrow((1.7, 3.7), (6.5, 5.2))
    sheet.arrow((6.5, 1.85), (2.3, 3.08), colour=BACKWARD)
    sheet.arrow((6.5, 4.55), (2.3, 3.32), colour=BACKWARD)
    sheet.write((4.6, 3.2), "the two add up", BACKWARD, 12, ha="left")
    sheet.write((3.6, 1.2), "copied", FORWARD, 12, va="bottom")
    return sheet.picture(
        "A value x goes forward into two boxes, u = f(x) and v = g(x). Backward, a gradient comes "
        "out of each box and the two are added where they meet at x."
    )


def which_product() -> Picture:
    """The blocks of a product forward, and those from which its gradients must be built."""
    sheet = new_sheet(13.0, 12.2)
    sheet.write((1.6, 0.5), "forward", FORWARD, 12)
    _block(sheet, 1.5, 1.9, "$A$", "nk", FORWARD)
    sheet.write((5.05, 2.75), "@", GREY, 14)
    _block(sheet, 6.2, 1.25, "$B$", "km", FORWARD)
    sheet.write((9.05, 2.75), "=", GREY, 14)
    _block(sheet, 10.3, 1.9, "$Y$", "nm", FORWARD)

    sheet.write((1.6, 5.0), "backward", BACKWARD, 12)
    _block(sheet, 1.5, 6.3, "d$A$ = ?", "nk", BACKWARD)
    sheet.write((5.25, 7.15), "from", GREY, 12)
    _block(sheet, 6.5, 6.3, "d$Y$", "nm", BACKWARD)
    sheet.write((9.5, 7.15), "and", GREY, 12)
    _block(sheet, 10.6, 5.65, "$B$", "km", FORWARD)
    _block(sheet, 1.9, 9.0, "d$B$ = ?", "km", BACKWARD)
    sheet.write((5.0, 10.5), "from", GREY, 12)
    _block(sheet, 6.1, 9.65, "d$Y$", "nm", BACKWARD)
    sheet.write((8.85, 10.5), "and", GREY, 12)
    _block(sheet, 9.85, 9.65, "$A$", "nk", FORWARD)
    return sheet.picture(
        "Blocks with their sides named. Forward: A, n by k, times B, k by m, gives Y, n by m. "
        "Backward, two puzzles: dA, n by k, is to be made from dY, n by m, and B, k by m; "
        "dB, k by m, is to be made from dY, n by m, and A, n by k."
    )


_LENGTHS = {"n": 1.7, "k": 2.9, "m": 2.1}


def _block(sheet: Sheet, left: float, top: float, name: str, shape: str, colour: str) -> None:
    """Draw a matrix of this shape, such as "nk", as a block; what is asked for is left empty."""
    rows, columns = shape[0], shape[1]
    height, width = _LENGTHS[rows], _LENGTHS[columns]
    fill, line = (NONE, "--") if "?" in name else (FILLS[colour], "-")
    sheet.cell((left, top), width, height, fill, colour, lw=1.4, ls=line)
    sheet.write((left + width / 2, top + height / 2), name, INK, 13)
    sheet.write((left - 0.2, top + height / 2), f"${rows}$", GREY, ha="right")
    sheet.write((left + width / 2, top - 0.15), f"${columns}$", GREY, va="bottom")
