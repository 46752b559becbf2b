"""Pictures with sliders: a step that is too small, forces on logits, the noise of a batch."""

from __future__ import annotations

from functools import cache

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from grader.pictures.figures.live import LivePicture, Slider
from grader.pictures.figures.rules import CHORDS
from grader.pictures.figures.sheet import (
    BACKWARD,
    FILLS,
    FORWARD,
    GREEN,
    GREY,
    HAIRLINE,
    INK,
    Picture,
    Sheet,
    new_axes,
    styled,
)

Numbers = NDArray[np.float64]


def _two_panels(height: float, ratios: tuple[float, float] = (1, 1)) -> tuple[Figure, Axes, Axes]:
    """Two panels, one below the other: side by side they would be too small on a telephone."""
    figure, (above, below) = new_axes(5.4, height, rows=2, height_ratios=ratios)
    for axes in (above, below):
        axes.grid(visible=False)
    return figure, above, below


# The function and the point of notebook 1, part 2.
_POINT = 0.7
_STEPS = np.logspace(-16, 0, 129)


def _f(x: Numbers | float) -> Numbers:
    return np.asarray(x**2 * np.tanh(x))


_SLOPE = float(2 * _POINT * np.tanh(_POINT) + _POINT**2 * (1 - np.tanh(_POINT) ** 2))


def _chords(step: Numbers | float) -> dict[str, Numbers]:
    """The slopes of both chords."""
    return {
        "one-sided": (_f(_POINT + step) - _f(_POINT)) / step,
        "central": (_f(_POINT + step) - _f(_POINT - step)) / (2 * step),
    }


def step_delta() -> LivePicture:
    """Two chords and their errors, for a step that the reader chooses."""
    slider = Slider("step δ", -16, 0, 0.25, 0.316227766, base=10, digits=".1e")
    return LivePicture(_draw_step, {"step": slider})


@styled
def _draw_step(step: float) -> Picture:
    figure, above, below = _two_panels(6.0)
    x = np.linspace(-0.45, 1.75, 200)
    above.plot(x, _f(x), color=INK, linewidth=2.2)
    above.plot(x, _f(_POINT) + _SLOPE * (x - _POINT), color=GREY, linestyle=(0, (4, 3)))
    found = {name: float(slope) for name, slope in _chords(step).items()}
    for name, slope in found.items():
        colour, marker = CHORDS[name]
        ends = np.array([_POINT - step * (name == "central"), _POINT + step])
        start = float(_f(ends[0]))
        above.plot(x, start + slope * (x - ends[0]), color=colour, linewidth=1.2)
        above.plot(ends, _f(ends), color=colour, marker=marker, linewidth=2.6)
    above.set_ylim(-0.45, 2.6)
    above.set_yticks([])
    above.set_xticks([_POINT], ["x = 0.7"], fontsize=11)
    above.set_title(f"δ = {step:.1e}: the slope is {_SLOPE:.6f} (dashed)")
    errors = {name: np.abs(slopes - _SLOPE) for name, slopes in _chords(_STEPS).items()}
    for name, (colour, marker) in CHORDS.items():
        here = abs(found[name] - _SLOPE)
        label = f"{name}: {found[name]:.6f}, error {here:.0e}"
        few = {"marker": marker, "markersize": 4, "markevery": 8}
        below.loglog(_STEPS, errors[name], color=colour, linewidth=1.6, **few)
        below.loglog(step, max(here, 1e-15), color=colour, marker=marker, markersize=8, label=label)
    below.axvline(step, color=HAIRLINE, linewidth=1, zorder=0)
    below.set_ylim(3e-16, 100)
    below.set_xlabel("step δ")
    below.set_title("error of the slope")
    below.legend(loc="upper center", fontsize=10.5)
    said = "; ".join(f"{name} {slope:.6f}" for name, slope in found.items())
    return Picture(
        figure,
        f"Above, a rising curve with its tangent and two chords for the step {step:.1e}; their "
        f"slopes: {said}; the true one: {_SLOPE:.6f}. Below, the errors of both chords over the "
        "step, on logarithmic scales: each falls with the step, then rises again as rounding "
        "takes over.",
    )


_LETTERS = "abcd"
_RIGHT = "b"
_LOGITS = {"a": 0.4, "b": 0.7, "c": 1.7, "d": 0.0}
_FORCE_LENGTH = 2.5
"""How long the arrow of a force of 1 is, in units of the logits."""
_SMALLEST_ARROW = 0.04
"""A weaker force is less than an arrow's head."""
_BESIDE = 0.5
"""How far from the base line a force's number is at least, in units of the logits."""


def _number(value: float, form: str) -> str:
    """A number with a true minus sign; zero has none."""
    text = f"{value:{form}}"
    return text.replace("-", "−") if text.strip("+-0.") else text.lstrip("+-")


def logit_forces() -> LivePicture:
    """A row of four logits that the reader moves, and the forces on them."""
    return LivePicture(
        _draw_forces,
        {
            letter: Slider(f"logit of {letter}", -4, 4, 0.1, start)
            for letter, start in _LOGITS.items()
        },
    )


@styled
def _draw_forces(**logits: float) -> Picture:
    values = np.array([logits[letter] for letter in _LETTERS])
    probabilities = np.exp(values) / np.exp(values).sum()
    is_right = np.array([letter == _RIGHT for letter in _LETTERS])
    forces = is_right - probabilities
    figure, above, below = _two_panels(5.6, (3, 2))
    names = [f"{letter} (right)" if letter == _RIGHT else letter for letter in _LETTERS]
    for axes, heights, digits, gap in (
        (above, values, "+.1f", 0.25),
        (below, probabilities, ".2f", 0.04),
    ):
        axes.bar(
            range(4), heights, width=0.34, color=FILLS[FORWARD], edgecolor=FORWARD, linewidth=1.4
        )
        axes.axhline(0, color=GREY, linewidth=1)
        for place, height in enumerate(heights):
            is_up = height >= 0
            y, va = (height + gap, "bottom") if is_up else (height - gap, "top")
            number = _number(height, digits)
            axes.text(place, y, number, color=FORWARD, fontsize=10.5, ha="center", va=va)
        axes.set_xticks(range(4), names)
        axes.set_xlim(-0.4, 3.7)
        axes.set_yticks([])
        axes.tick_params(length=0)
        axes.spines[["left", "bottom"]].set_visible(False)
    sheet = Sheet(above)
    for place, (logit, force) in enumerate(zip(values, forces, strict=True)):
        x, end = place + 0.28, logit + _FORCE_LENGTH * force
        if abs(force) >= _SMALLEST_ARROW:
            sheet.arrow((x, logit), (x, end), colour=BACKWARD, head=10, linewidth=2.4)
        middle = (logit + end) / 2
        y = float(np.copysign(max(abs(middle), _BESIDE), middle))
        sheet.write((x + 0.07, y), _number(force, "+.2f"), BACKWARD, 10.5, ha="left")
    ends = [*values, *(values + _FORCE_LENGTH * forces)]
    # As much as the first logits need, and more where the reader moves one beyond.
    above.set_ylim(min(-1.2, min(ends) - 1.2), max(3.6, max(ends) + 1.2))
    below.set_ylim(0, 1.2)
    above.set_title("logits (blue) and the forces on them (orange): their sum is 0")
    loss = -float(np.log(probabilities[is_right][0]))
    below.set_title(f"probabilities: the loss is −ln {probabilities[is_right][0]:.4g} = {loss:.2f}")
    said = ", ".join(
        f"{letter} {logit:.1f} and {force:+.2f}"
        for letter, logit, force in zip(_LETTERS, values, forces, strict=True)
    )
    return Picture(
        figure,
        f"Four letters, b is right. Above, their logits as bars, each with an arrow for the force "
        f"on it: {said}. Below, their probabilities: "
        f"{', '.join(f'{p:.2f}' for p in probabilities)}; the loss is {loss:.2f}.",
    )


_BATCHES = 400
_EXAMPLE = 1.5


def batch_noise() -> LivePicture:
    """One example normalised in many batches of a size that the reader chooses."""
    slider = Slider("batch size n", 1, 9, 1, 8, base=2, digits=".0f")
    return LivePicture(_draw_noise, {"size": slider})


@cache
def _normalised(size: int) -> Numbers:
    """What one example becomes in random batches of a size: the others are drawn anew each time."""
    others = np.random.default_rng(size).normal(size=(_BATCHES, size - 1))
    batches = np.hstack([np.full((_BATCHES, 1), _EXAMPLE), others])
    mean, deviation = batches.mean(1), batches.std(1, ddof=1)
    return np.asarray((_EXAMPLE - mean) / deviation)


@styled
def _draw_noise(size: float) -> Picture:
    n = round(size)
    found = _normalised(n)
    spread = float(found.std())
    figure, above, below = _two_panels(5.6)
    above.hist(found, bins=np.linspace(-1, 3.2, 85).tolist(), color=FILLS[GREEN], ec=GREEN, lw=0.8)
    above.axvline(_EXAMPLE, color=INK, linestyle=(0, (4, 3)), linewidth=1.4)
    above.set_yticks([])
    above.set_xlim(-1, 3.2)
    above.set_xlabel("the same example, normalised")
    above.set_title(f"{_BATCHES} batches of {n}: {found.mean():.2f} ± {spread:.2f} instead of 1.50")
    sizes = [2**power for power in range(1, 10)]
    spreads = [float(_normalised(each).std()) for each in sizes]
    # From 4 on: in a batch of 2, whatever the other is, the normalised values are ± 0.71.
    below.loglog(sizes[1:], spreads[1:], color=GREEN, marker="o", markersize=4, linewidth=1.6)
    below.loglog(n, max(spread, 0.03), color=GREEN, marker="o", markersize=10)
    guide = np.array([4.0, sizes[-1]])
    law = spreads[-1] * np.sqrt(sizes[-1] / guide)
    below.loglog(guide, law, color=GREY, linestyle=":", linewidth=1.4)
    below.text(90, 0.19, "like $1/\\sqrt{n}$", color=GREY, fontsize=10.5)
    below.set_xticks(sizes, [str(each) for each in sizes])
    below.minorticks_off()
    below.set_yticks([0.05, 0.1, 0.2, 0.5], ["0.05", "0.1", "0.2", "0.5"])
    below.set_ylim(0.025, 1)
    below.set_xlabel("batch size n")
    below.set_title("spread (±)")
    return Picture(
        figure,
        f"Above, a histogram: one example, 1.5 standard deviations above the mean, normalised in "
        f"{_BATCHES} random batches of {n}; it becomes {found.mean():.2f} on average, give or take "
        f"{spread:.2f}. Below, that spread over the batch size, on logarithmic scales: for "
        "larger batches it falls like one over the square root of their size.",
    )
