"""A picture of numerical differentiation."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from grader.figures.style import BLUE, GREY, INK, ORANGE, PAPER, Picture


def chords() -> Picture:
    """A curve, its tangent, and the two chords that stand in for the tangent."""
    point, step = 1.0, 0.6

    def curve(x: np.ndarray) -> np.ndarray:
        return 0.08 * x**3 + 0.45 * x**2 - 0.15 * x + 0.4

    slope = 3 * 0.08 * point**2 + 2 * 0.45 * point - 0.15
    figure = Figure(figsize=(6.5, 3.3), facecolor=PAPER, layout="constrained")
    axes = figure.subplots()
    x = np.linspace(0.0, 2.0, 200)
    middle, right = np.array(point), np.array(point + step)
    left = np.array(point - step)
    axes.plot(x, curve(x), color=INK, linewidth=2.2)
    reach = np.array([-0.85, 0.85])
    axes.plot(point + reach, curve(middle) + slope * reach, color=GREY, linestyle=(0, (4, 3)))
    for ends, colour in (((middle, right), ORANGE), ((left, right), BLUE)):
        axes.plot([*ends], [curve(end) for end in ends], color=colour, marker="o", linewidth=2)
    axes.plot(middle, curve(middle), color=INK, marker="o", markersize=7)
    axes.annotate("one-sided chord", (1.3, 1.1), (0.86, 1.28), color=ORANGE, fontsize=11)
    axes.annotate("central chord", (0.7, 0.5), (0.34, 0.76), color=BLUE, fontsize=11)
    axes.annotate("tangent", (1.8, 1.2), (1.7, 1.3), color=GREY, fontsize=11)
    labels = [r"$x-\delta$", "$x$", r"$x+\delta$"]
    axes.set_xticks([point - step, point, point + step], labels, fontsize=12)
    axes.set_yticks([])
    axes.grid(visible=False)
    axes.spines[["top", "right"]].set_visible(False)
    return Picture(
        figure,
        "A rising curve with its tangent at x. The chord from x to x + δ is clearly steeper than "
        "the tangent; the chord from x - δ to x + δ is nearly parallel to it.",
    )
