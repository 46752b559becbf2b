"""Pictures of the softmax below the cross-entropy."""

from __future__ import annotations

from typing import Final

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch

from grader.figures.matrix import draw_arrow, draw_matrix
from grader.figures.rules import draw_box
from grader.figures.style import (
    BACKWARD,
    BACKWARD_FILL,
    BLUE,
    FORWARD,
    FORWARD_FILL,
    GREY,
    HAIRLINE,
    INK,
    PAPER,
    PLAIN_FILL,
    SKY,
    Picture,
    canvas,
)

_CHAIN: Final = ("logits", "norm_logits", "counts", "probs", "logprobs", "loss")
_BOX_WIDTH: Final = 2.35
_STRIDE: Final = 2.95


def eight_lines_become_one() -> Picture:
    """The chain of small steps from the logits to the loss, above the one step that spans it."""
    figure, axes = canvas(17.6, 6.2, scale=0.4)
    left = 1.4
    places = {name: left + _STRIDE * number for number, name in enumerate(_CHAIN)}
    for name, x in places.items():
        _name_box(axes, x, 2.2, name, at_end=name in ("logits", "loss"))
    for x in list(places.values())[:-1]:
        start, end = x + _BOX_WIDTH / 2, x + _STRIDE - _BOX_WIDTH / 2
        draw_arrow(axes, (start, 2.0), (end, 2.0))
        draw_arrow(axes, (end, 2.45), (start, 2.45), colour=BACKWARD)
    for name, label in (
        ("logits", "the maximum\nsubtracted"),
        ("norm_logits", "exp"),
        ("counts", "divided by\ntheir sum"),
        ("probs", "ln"),
        ("logprobs", "picked,\naveraged"),
    ):
        x = places[name] + _STRIDE / 2
        axes.text(x, 1.25, label, ha="center", va="bottom", color=GREY, fontsize=11)
    _name_box(axes, places["logits"], 4.7, "logits", at_end=True)
    _name_box(axes, places["loss"], 4.7, "loss", at_end=True)
    start, end = places["logits"] + _BOX_WIDTH / 2, places["loss"] - _BOX_WIDTH / 2
    draw_arrow(axes, (start, 4.5), (end, 4.5), label="F.cross_entropy(logits, Yb)")
    draw_arrow(axes, (end, 4.95), (start, 4.95), colour=BACKWARD)
    axes.text((start + end) / 2, 5.3, "one formula: yours", ha="center", va="top", color=BACKWARD)
    return Picture(
        figure,
        "Above, a chain of six boxes from logits over norm_logits, counts, probs and logprobs to "
        "the loss, each joined to the next by an arrow forward and one backward. Below, logits "
        "and loss alone, joined by one arrow forward, F.cross_entropy, and one backward: the "
        "formula you are going to find.",
    )


def _name_box(axes: Axes, x: float, y: float, name: str, *, at_end: bool) -> None:
    draw_box(
        axes,
        (x, y),
        name,
        width=_BOX_WIDTH,
        height=1.2,
        edge=FORWARD if at_end else HAIRLINE,
        fill=FORWARD_FILL if at_end else PLAIN_FILL,
        fontsize=10,
    )


def softmax_slopes() -> Picture:
    """How each of three probabilities moves with each of three logits; one row is needed."""
    figure, axes = canvas(13.0, 5.6)
    columns = range(1, 4)
    slopes = [[_slope(i, j) for j in columns] for i in columns]
    for j in columns:
        axes.text(
            3.5 + (j - 0.5) * 2.4, 1.35, rf"$\ell_{j}$", ha="center", va="bottom", color=FORWARD
        )
        axes.text(3.2, 1.5 + j - 0.5, f"$p_{j}$", ha="right", va="center", color=FORWARD)
    axes.text(
        7.1, 0.55, "raise this logit ...", ha="center", va="center", color=GREY, fontsize=10.5
    )
    axes.text(
        2.45,
        3.0,
        "... and this\nprobability\nmoves by",
        ha="right",
        va="center",
        color=GREY,
        fontsize=10.5,
    )
    wanted = [(1, 0), (1, 1), (1, 2)]
    draw_matrix(
        axes,
        3.5,
        1.5,
        slopes,
        colour=BACKWARD,
        fill=BACKWARD_FILL,
        lit=wanted,
        cell_width=2.4,
        fontsize=12,
    )
    axes.text(
        7.1,
        4.95,
        "the loss reads $p_2$ only: this row is needed",
        ha="center",
        va="center",
        color=BACKWARD,
        fontsize=11,
    )
    return Picture(
        figure,
        "A 3 by 3 grid: how each probability moves with each logit. On the diagonal "
        "p i times (1 minus p i), elsewhere minus p i times p j. The second row is marked: the "
        "label is the second character, so the loss reads p2 only.",
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
    for place, p in enumerate(probabilities):
        is_label = place == label
        axes.bar(place - 0.22, p, width=0.3, color=BLUE if is_label else SKY)
        colour = FORWARD if is_label else BACKWARD
        force = 1 - p if is_label else -p
        start = 0.0 if is_label else p
        axes.add_patch(
            FancyArrowPatch(
                (place + 0.08, start),
                (place + 0.08, start + force),
                arrowstyle="-|>",
                mutation_scale=10,  # a head no longer than the shortest arrow
                color=colour,
                linewidth=2.2,
                shrinkA=0,
                shrinkB=0,
            )
        )
        sign = "+" if force > 0 else "−"
        axes.text(
            place - 0.03,
            max(start, start + force) + 0.02,
            f"{sign}{abs(force):.2f}",
            ha="left",
            va="bottom",
            color=colour,
            fontsize=10,
        )
    axes.set_xticks(range(4), ["a", "b (right)", "c", "d"], color=INK)
    axes.set_xlim(-0.6, 3.7)
    axes.set_ylim(0, 1.02)
    axes.axhline(0, color=GREY, linewidth=1)
    axes.grid(visible=False)
    axes.tick_params(colors=GREY, length=0)
    axes.spines[["top", "right", "left", "bottom"]].set_visible(False)
