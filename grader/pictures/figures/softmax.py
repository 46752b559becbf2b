"""Pictures of the softmax below the cross-entropy."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from torch import Tensor

from grader.pictures.figures.sheet import (
    BACKWARD,
    FORWARD,
    GREEN,
    GREY,
    HAIRLINE,
    INK,
    PALER,
    SIGNED,
    Picture,
    Sheet,
    new_axes,
    new_sheet,
    styled,
)

_CHAIN = ("logits", "norm_logits", "counts", "probs", "logprobs", "loss")
_BOX_WIDTH = 2.35
_STRIDE = 2.95


@styled
def softmax_ignores_a_shift() -> Picture:
    """Two sets of logits that differ by a constant, and the probabilities they share."""
    logits = np.array([1.0, 2.2, 0.2, -0.6])
    shift = logits.max()
    probabilities = np.exp(logits) / np.exp(logits).sum()
    figure, (left, middle, right) = new_axes(height=2.7, columns=3)
    for axes, values, title, digits, limits in (
        (left, logits, "logits", 1, (-3.4, 2.8)),
        (middle, logits - shift, "the same, minus\ntheir maximum", 1, (-3.4, 2.8)),
        (right, probabilities, "probabilities\nof both", 2, (0, 0.8)),
    ):
        bars = axes.bar(list("abcd"), values, color=FORWARD)
        axes.bar_label(bars, fmt=f"%.{digits}f", color=INK, padding=2)
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


def _stressed(colour: str, label: int, places: Iterable[int]) -> list[str]:
    """A bar's colour at each place: the label's stands out."""
    return [colour if place == label else PALER[colour] for place in places]


def _draw_zero_alone(axes: Axes) -> None:
    """Draw a line at zero instead of a grid and a frame."""
    axes.axhline(0, color=GREY, linewidth=1)
    axes.grid(visible=False)
    axes.spines[:].set_visible(False)


@styled
def batch_of_gradients(gradient: Tensor, labels: Tensor, characters: Sequence[str]) -> Picture:
    """Every number of a batch's gradient of the logits, the labels framed.

    Args:
        gradient: of the sum of the examples' losses, so between -1 and 1: (n, vocab_size).
        labels: the right characters, int64 (n,).
        characters: the names of the columns.
    """
    figure, (axes,) = new_axes(5.8, 5.6)
    image = axes.imshow(gradient.numpy(), cmap=SIGNED, vmin=-1, vmax=1, aspect="auto")
    for example, label in enumerate(labels.tolist()):
        axes.add_patch(Rectangle((label - 0.5, example - 0.5), 1, 1, fill=False, ec=INK, lw=1.2))
    axes.grid(visible=False)
    axes.set_xticks(range(len(characters)), characters)
    axes.set(title="n times dlogits; the labels are framed", xlabel="character", ylabel="example")
    figure.colorbar(image)
    return Picture(
        figure,
        "A matrix of small squares, a row for each example, a column for each character. Each row "
        "has one purple square, at its framed label; the stronger it is, the more the network "
        "is wrong. The others are empty or green.",
    )


@styled
def one_row(
    probabilities: Tensor, gradient: Tensor, label: int, characters: Sequence[str]
) -> Picture:
    """The probabilities of one example above its row of the gradient, to one scale.

    Args:
        probabilities: (vocab_size,).
        gradient: of the example's loss with respect to its logits: (vocab_size,).
        label: the right character.
        characters: the names of all.
    """
    top, bottom = 1.15 * probabilities.max().item(), -1.05
    heights = (top, top - bottom)  # to one scale
    figure, (above, below) = new_axes(height=5.2, rows=2, sharex=True, height_ratios=heights)
    places = range(len(characters))
    above.bar(characters, probabilities.numpy(), color=_stressed(FORWARD, label, places))
    title = "the probabilities of one example (strong and bold: the right one)"
    above.set(title=title, ylim=(0, top))
    below.bar(characters, gradient.numpy(), color=_stressed(BACKWARD, label, places))
    below.set(title="n times its row of dlogits", ylim=(bottom, top))
    for axes in (above, below):
        axes.grid(visible=False, axis="x")
    below.axhline(0, color=GREY, linewidth=1)
    # Its own bar may be too low to be seen.
    below.get_xticklabels()[label].set(color=INK, fontweight="bold")
    return Picture(
        figure,
        "Two bar charts of all characters. Above, the probabilities of one example. Below, its "
        "row of dlogits: the same bars, but for the right character, whose bar hangs down to "
        "nearly minus 1.",
    )


@styled
def pulled_and_pushed(history: Tensor, label: int, character: str) -> Picture:
    """One example's probabilities while the forces move its logits.

    Args:
        history: the probabilities after each step, (steps, vocab_size).
        label: the right character.
        character: its name.
    """
    figure, (axes,) = new_axes(height=3.4)
    others = [place for place in range(history.shape[1]) if place != label]
    axes.plot(history[:, others], color=PALER[FORWARD], linewidth=0.8)
    axes.plot(history[:, label], color=FORWARD, label=f"the right character: {character}")
    axes.plot(1 - history[:, label], "--", color=BACKWARD, label="the pull on its logit")
    axes.set(title="one example, pulled and pushed", xlabel="step", ylim=(0, 1.02))
    axes.set_ylabel("probability, pull")
    axes.legend(loc="center right")
    return Picture(
        figure,
        "Lines over 200 steps. The right character's probability climbs slowly, then fast, then "
        "slowly again, to nearly 1. The pull on its logit, 1 minus this, falls. The other "
        "probabilities end near zero.",
    )


@styled
def temperatures(
    logits: Tensor, label: int, characters: Sequence[str], several: Sequence[float]
) -> Picture:
    """One example's probabilities at several temperatures, above the slopes of its logits.

    Args:
        logits: of the example, (vocab_size,).
        label: the right character.
        characters: the names of all.
        several: the temperatures, each a column of its own.
    """
    figure, axes = new_axes(height=4.4, rows=2, columns=len(several), sharex=True, sharey="row")
    places, said = np.arange(len(characters)), list[str]()
    target = (places == label).astype(float)
    for above, below, T in zip(axes, axes[len(several) :], several, strict=False):
        p = (logits / T).softmax(0).numpy()
        slopes = (p - target) / T
        above.bar(places, p, color=_stressed(FORWARD, label, places))
        below.bar(places, slopes, color=_stressed(BACKWARD, label, places))
        above.set_title(f"T = {T:g}")
        below.axhline(0, color=GREY, linewidth=1)
        favourite = int(p.argmax())
        below.set_xticks([label, favourite], [characters[label], characters[favourite]])
        below.get_xticklabels()[0].set(color=INK, fontweight="bold")
        for one in (above, below):
            one.grid(visible=False, axis="x")
        said.append(f"at {T:g} the highest is {p.max():.2f}, the lowest slope {slopes.min():.2f}")
    axes[0].set_ylabel("probability")
    axes[len(several)].set_ylabel("slope of its loss")
    return Picture(
        figure,
        "Bar charts of one example's probabilities, and below them of the slopes of its logits, "
        f"once for each temperature: {'; '.join(said)}. The higher T, the more alike are the bars, "
        "and the shorter are the slopes.",
    )


@styled
def times_as_long(times: Mapping[str, tuple[float, float]]) -> Picture:
    """How many times as long the eight lines take as the one step, forward and backward.

    Args:
        times: by the name of a batch, forward and backward.
    """
    figure, (axes,) = new_axes(height=2.8)
    for shift, colour, way in ((-0.2, FORWARD, 0), (0.2, BACKWARD, 1)):
        ratios = [pair[way] for pair in times.values()]
        places = [place + shift for place in range(len(times))]
        bars = axes.barh(places, ratios, height=0.36, color=colour)
        axes.bar_label(bars, fmt=f" %.1f {'backward' if way else 'forward'}", color=INK)
    axes.axvline(1, color=GREY, linewidth=1)
    axes.set_yticks(range(len(times)), list(times))
    longest = max(max(pair) for pair in times.values())
    axes.set(title="eight lines: how many times as long as one step", xlim=(0, 1.3 * longest))
    axes.invert_yaxis()  # the first batch on top
    axes.grid(visible=False)
    said = "; ".join(
        f"{name}: {forward:.1f} times forward, {backward:.1f} times backward"
        for name, (forward, backward) in times.items()
    )
    return Picture(figure, f"How many times as long the eight lines take as one step. {said}.")


@styled
def ahead_of_the_others(gaps: Mapping[str, Sequence[float]], rest: float) -> Picture:
    """How far the right logit is ahead of a wrong one while the forces work.

    Args:
        gaps: for each loss by name, one without smoothing first, the distance after each step.
        rest: the distance at which the smoothed forces vanish.
    """
    figure, (axes,) = new_axes(height=3.2)
    for (name, gap), line, colour in zip(gaps.items(), ("--", "-"), (INK, GREEN), strict=True):
        axes.plot(gap, line, color=colour, label=name)
    axes.axhline(rest, color=GREY, linewidth=1)
    axes.set(title="right logit minus a wrong one", xlabel="step")
    axes.legend(loc="lower right")
    return Picture(
        figure,
        "Two curves that climb steeply at first. The dashed one, without smoothing, never stops "
        "climbing; the other, with smoothing, settles on a grey line.",
    )
