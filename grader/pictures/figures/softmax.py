"""Pictures of the softmax below the cross-entropy."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from grader.pictures.figures.sheet import (
    BACKWARD,
    BLUE,
    FORWARD,
    GREEN,
    GREY,
    HAIRLINE,
    INK,
    PAPER,
    SKY,
    Picture,
    Sheet,
    new_sheet,
)

_CHAIN = ("logits", "norm_logits", "counts", "probs", "logprobs", "loss")
_BOX_WIDTH = 2.35
_STRIDE = 2.95


def softmax_ignores_a_shift() -> Picture:
    """Two sets of logits that differ by a constant, and the probabilities they share."""
    logits = np.array([1.0, 2.2, 0.2, -0.6])
    shift = logits.max()
    probabilities = np.exp(logits) / np.exp(logits).sum()
    figure = Figure(figsize=(6.5, 2.7), facecolor=PAPER, layout="constrained")
    left, middle, right = figure.subplots(1, 3)
    for axes, values, title, colour, digits, limits in (
        (left, logits, "logits", BLUE, 1, (-3.4, 2.8)),
        (middle, logits - shift, "the same, minus\ntheir maximum", SKY, 1, (-3.4, 2.8)),
        (right, probabilities, "probabilities\nof both", GREEN, 2, (0, 0.8)),
    ):
        bars = axes.bar(list("abcd"), values, color=colour)
        axes.bar_label(bars, fmt=f"%.{digits}f", color=INK)
        axes.set_title(title, fontsize=11)
        axes.set_yticks([])
        axes.set_ylim(*limits)
        _draw_zero_alone(axes)
    return Picture(
        figure,
        "Three bar charts of four letters. The second chart's logits are those of the first minus "
        "2.2, their maximum. The third shows the probabilities, the same for both.",
    )


def eight_lines_become_one() -> Picture:
    """The chain of small steps from the logits to the loss, above the one step that spans it."""
    sheet = new_sheet(17.6, 6.2, scale=0.4)
    left = 1.4
    places = {name: left + _STRIDE * number for number, name in enumerate(_CHAIN)}
    for name, x in places.items():
        _name_box(sheet, x, 2.2, name)
    for x in list(places.values())[:-1]:
        start, end = x + _BOX_WIDTH / 2, x + _STRIDE - _BOX_WIDTH / 2
        sheet.arrow((start, 2.0), (end, 2.0))
        sheet.arrow((end, 2.45), (start, 2.45), colour=BACKWARD)
    for name, label in (
        ("logits", "the maximum\nsubtracted"),
        ("norm_logits", "exp"),
        ("counts", "divided by\ntheir sum"),
        ("probs", "ln"),
        ("logprobs", "picked,\naveraged"),
    ):
        sheet.write((places[name] + _STRIDE / 2, 1.25), label, GREY, 11, va="bottom")
    _name_box(sheet, places["logits"], 4.7, "logits")
    _name_box(sheet, places["loss"], 4.7, "loss")
    start, end = places["logits"] + _BOX_WIDTH / 2, places["loss"] - _BOX_WIDTH / 2
    sheet.arrow((start, 4.5), (end, 4.5), "F.cross_entropy(logits, Yb)")
    sheet.arrow((end, 4.95), (start, 4.95), colour=BACKWARD)
    sheet.write(((start + end) / 2, 5.3), "one formula: yours", BACKWARD, va="top")
    return sheet.picture(
        "Above, a chain of six boxes from logits over norm_logits, counts, probs and logprobs to "
        "the loss, each joined to the next by an arrow forward and one backward. Below, logits "
        "and loss alone, joined by one arrow forward, F.cross_entropy, and one backward: the "
        "formula you are going to find."
    )


def _name_box(sheet: Sheet, x: float, y: float, name: str) -> None:
    colour = FORWARD if name in (_CHAIN[0], _CHAIN[-1]) else HAIRLINE
    sheet.box((x, y), name, width=_BOX_WIDTH, height=1.2, colour=colour, size=10)


def softmax_slopes() -> Picture:
    """How each of three probabilities moves with each of three logits; one row is needed."""
    sheet = new_sheet(13.0, 5.6)
    columns = range(1, 4)
    slopes = [[_slope(i, j) for j in columns] for i in columns]
    for j in columns:
        sheet.write((3.5 + (j - 0.5) * 2.4, 1.35), rf"$\ell_{j}$", FORWARD, va="bottom")
        sheet.write((3.2, 1.5 + j - 0.5), f"$p_{j}$", FORWARD, ha="right")
    sheet.write((7.1, 0.55), "raise this logit ...", GREY, 10.5)
    sheet.write((2.45, 3.0), "... and this\nprobability\nmoves by", GREY, 10.5, ha="right")
    wanted = [(1, 0), (1, 1), (1, 2)]
    sheet.matrix(3.5, 1.5, slopes, colour=BACKWARD, lit=wanted, cell_width=2.4, size=12)
    needed = "the loss reads $p_2$ only: this row is needed"
    sheet.write((7.1, 4.95), needed, BACKWARD, 11)
    return sheet.picture(
        "A 3 by 3 grid: how each probability moves with each logit. On the diagonal "
        "p i times (1 minus p i), elsewhere minus p i times p j. The second row is marked: the "
        "label is the second character, so the loss reads p2 only."
    )


def _slope(i: int, j: int) -> str:
    return f"$p_{i}(1 - p_{i})$" if i == j else f"$-p_{i}\\,p_{j}$"


def pull_and_push() -> Picture:
    """The forces on four logits, for a model that is mostly wrong and for one that is nearly right.

    Each force is drawn in proportion to its size; those of a row cancel.
    """
    figure = Figure(figsize=(7.2, 3.5), facecolor=PAPER, layout="constrained")
    panels = figure.subplots(1, 2, sharey=True)
    for axes, title, probabilities in (
        (panels[0], "mostly wrong", (0.15, 0.20, 0.55, 0.10)),
        (panels[1], "nearly right", (0.02, 0.90, 0.05, 0.03)),
    ):
        _draw_forces(axes, probabilities, label=1)
        axes.set_title(title, fontsize=11, color=INK)
    panels[0].set_ylabel("probability, force", color=GREY)
    return Picture(
        figure,
        "Two bar charts of the probabilities of four letters a, b, c, d; b is right. Left, b has "
        "0.20 and c 0.55: a long arrow of 0.80 pulls b up, arrows of 0.15, 0.55 and 0.10 push the "
        "others down. Right, b has 0.90: the arrows are short, 0.10 up and 0.02, 0.05, 0.03 down.",
    )


def _draw_forces(axes: Axes, probabilities: tuple[float, ...], label: int) -> None:
    sheet = Sheet(axes)
    for place, p in enumerate(probabilities):
        is_label = place == label
        axes.bar(place - 0.22, p, width=0.3, color=BLUE if is_label else SKY)
        colour = FORWARD if is_label else BACKWARD
        force = 1 - p if is_label else -p
        start = 0.0 if is_label else p
        x = place + 0.08
        # a head no longer than the shortest arrow
        sheet.arrow((x, start), (x, start + force), colour=colour, head=10, linewidth=2.2)
        top = max(start, start + force) + 0.02
        text = f"{'+' if force > 0 else '−'}{abs(force):.2f}"
        sheet.write((place - 0.03, top), text, colour, 10, ha="left", va="bottom")
    axes.set_xticks(range(4), ["a", "b (right)", "c", "d"], color=INK)
    axes.set_xlim(-0.6, 3.7)
    axes.set_ylim(0, 1.02)
    axes.tick_params(colors=GREY, length=0)
    _draw_zero_alone(axes)


def _draw_zero_alone(axes: Axes) -> None:
    """Draw a line at zero instead of a grid and a frame."""
    axes.axhline(0, color=GREY, linewidth=1)
    axes.grid(visible=False)
    axes.spines[:].set_visible(False)
