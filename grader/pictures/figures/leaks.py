"""Plots of gradients that go bad unseen: saturated, dead, multiplied too often, clipped away."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.colors import ListedColormap
from torch import Tensor

from grader.pictures.figures.sheet import (
    BACKWARD,
    FORWARD,
    GREEN,
    GREY,
    INK,
    LINES,
    PINK,
    PLAIN_FILL,
    Picture,
    new_axes,
    styled,
)
from grader.printable import counted

_STRETCH = 100
"""Steps over which a loss is averaged: single minibatches jump about."""


@styled
def two_losses(losses: Mapping[str, Sequence[float]]) -> Picture:
    """The losses of two trainings, averaged over stretches of a hundred steps.

    Args:
        losses: for each of the two those of its minibatches, in nats; what is left of the last
            stretch is not drawn.
    """
    figure, (axes,) = new_axes()
    ends = []
    # The second lies upon the first, which shows on both sides of it.
    for (name, values), (colour, width) in zip(
        losses.items(), ((f"{GREEN}90", 7), (INK, 1.5)), strict=True
    ):
        means = np.reshape(values[: len(values) // _STRETCH * _STRETCH], (-1, _STRETCH)).mean(1)
        steps = _STRETCH * np.arange(1, len(means) + 1)
        axes.plot(steps, means, color=colour, label=name, linewidth=width)
        ends.append(f"{name} goes from {means[0]:.2f} to {means[-1]:.2f}")
    axes.set_title(f"loss (nats), mean of {_STRETCH} minibatches each")
    axes.set_xlabel("training step")
    axes.legend()
    return Picture(figure, f"Two losses over the training steps: {'; '.join(ends)}.")


@styled
def squashing() -> Picture:
    """Tanh and the sigmoid, and their slopes."""
    figure, (values, slopes) = new_axes(columns=2)
    x = np.linspace(-6, 6, 241)
    sigmoid = 1 / (1 + np.exp(-x))
    curves = {"tanh": (np.tanh(x), 1 - np.tanh(x) ** 2), "sigmoid": (sigmoid, sigmoid - sigmoid**2)}
    for (name, (value, slope)), (_, line) in zip(curves.items(), LINES, strict=False):
        values.plot(x, value, line, color=FORWARD, label=name)
        slopes.plot(x, slope, line, color=BACKWARD, label=name)
    values.set_title("the function")
    slopes.set_title("its slope: the gate")
    values.legend(loc="upper left")
    return Picture(
        figure,
        "Left, tanh and the sigmoid, two S-shaped curves. Right their slopes, two bells: tanh's "
        "is 1 high, the sigmoid's 0.25. At x = -5 and x = 5 tanh's is as good as zero, 0.0002; the "
        "sigmoid's, the wider bell, is 0.0066.",
    )


@styled
def firing(before: Tensor, after: Tensor) -> Picture:
    """Which unit fires for which example, before and after an update.

    Args:
        before: True where a unit fires, bool (examples, units).
        after: the same after the update.
    """
    order = after.sum(0).argsort(descending=True)
    figure, panels = new_axes(columns=2, sharex=True, sharey=True)
    silent = [int((~fires.any(0)).sum()) for fires in (before, after)]
    for axes, fires, when, many in zip(
        panels, (before, after), ("before", "after"), silent, strict=True
    ):
        # Dead units have a colour of their own: 0 silent, 1 firing, 2 dead.
        shades = fires[:, order].int() + 2 * (~fires.any(0))[order].int()
        colours = ListedColormap([PLAIN_FILL, GREEN, PINK])
        axes.imshow(
            shades.numpy(), cmap=colours, vmin=0, vmax=2, aspect="auto", interpolation="nearest"
        )
        axes.set_title(f"{when}: {many} dead")
        axes.set_xlabel("unit")
        axes.grid(visible=False)
    panels[0].set_ylabel("example")
    return Picture(
        figure,
        "Two grids, a column for each unit and a row for each example, green where the unit "
        f"fires, pink where it fires for no example: {counted(silent[0], 'unit')} before the step, "
        f"{silent[1]} after it. The units stand in the same order, the busiest after it first.",
    )


@styled
def lengths(norms: Mapping[float | str, Sequence[float]]) -> Picture:
    """How long a gradient is after each step back.

    Args:
        norms: the lengths, relative to the start, by name or by the largest eigenvalue's size.
    """
    figure, (axes,) = new_axes()
    for (size, values), (colour, line) in zip(norms.items(), LINES, strict=False):
        steps = range(1, len(values) + 1)
        label = size if isinstance(size, str) else f"largest eigenvalue {size}"
        axes.semilogy(steps, values, line, color=colour, label=label)
    axes.set_title("the gradient's length, relative to its start")
    axes.set_xlabel("steps back")
    axes.legend()
    ends = "; ".join(f"with {size} it ends at {values[-1]:.0e}" for size, values in norms.items())
    return Picture(figure, f"Lengths on a logarithmic scale over the steps back: {ends}.")


@styled
def beliefs(curves: Mapping[str, Sequence[float]], truth: float) -> Picture:
    """A probability that several trainings learn.

    Args:
        curves: for each training the probability after every step.
        truth: what it should become.
    """
    figure, (axes,) = new_axes()
    axes.axhline(truth, color=GREY, linewidth=1, label="the truth")
    for (name, values), (colour, line) in zip(curves.items(), LINES, strict=False):
        axes.plot(values, line, color=colour, label=name)
    axes.set_title("belief in the rare letter")
    axes.set_xlabel("training step")
    axes.set_ylim(0, 1.8 * truth)
    axes.legend(ncols=2, loc="upper left")
    ends = "; ".join(f"{name} ends at {values[-1]:.4f}" for name, values in curves.items())
    return Picture(figure, f"Beliefs over the training steps, the truth being {truth}: {ends}.")
