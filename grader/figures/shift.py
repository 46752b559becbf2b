"""A picture of the softmax that does not notice a shift."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from grader.figures.style import BLUE, GREEN, GREY, INK, PAPER, SKY, Picture


def softmax_ignores_a_shift() -> Picture:
    """Two sets of logits that differ by a constant, and the probabilities they share."""
    logits = np.array([1.0, 2.2, 0.2, -0.6])
    shift = logits.max()
    probabilities = np.exp(logits) / np.exp(logits).sum()
    figure = Figure(figsize=(6.5, 2.7), facecolor=PAPER, layout="constrained")
    panels = figure.subplots(1, 3)
    titles = ("logits", "the same, minus\ntheir maximum", "probabilities\nof both")
    for axes, values, title, colour in zip(
        panels,
        (logits, logits - shift, probabilities),
        titles,
        (BLUE, SKY, GREEN),
        strict=True,
    ):
        bars = axes.bar(list("abcd"), values, color=colour)
        axes.bar_label(bars, fmt="%.1f" if axes is not panels[2] else "%.2f", color=INK)
        axes.grid(visible=False)
        axes.axhline(0, color=GREY, linewidth=1)
        axes.set_title(title, fontsize=11)
        axes.set_yticks([])
        axes.set_ylim(*((-3.4, 2.8) if axes is not panels[2] else (0, 0.8)))
        axes.spines[["top", "right", "left", "bottom"]].set_visible(False)
    return Picture(
        figure,
        "Three bar charts of four letters. The second chart's logits are those of the first minus "
        "2.2, their maximum. The third shows the probabilities, the same for both.",
    )
