"""The bar chart of the race in notebook 4."""

from __future__ import annotations

from collections.abc import Mapping

from matplotlib.figure import Figure

from grader.figures.style import BLUE, GREY, HAIRLINE, INK, PAPER, Picture


def race_chart(rates: Mapping[str, float]) -> Picture:
    """Steps per second as bars, the first on top; the last of them is the limit, in grey."""
    names = list(rates)
    figure = Figure(figsize=(6.8, 0.42 * len(names) + 0.7), facecolor=PAPER, layout="constrained")
    axes = figure.add_subplot(facecolor=PAPER)
    colours = [BLUE] * (len(names) - 1) + [HAIRLINE]
    axes.barh(names, list(rates.values()), color=colours, height=0.62)
    axes.invert_yaxis()
    first = rates[names[0]]
    for place, rate in enumerate(rates.values()):
        text = f" {rate:,.0f}  ({rate / first:.1f} ×)"
        axes.text(rate, place, text, va="center", color=INK, fontsize=10)
    axes.set_xlim(0, max(rates.values()) * 1.4)
    axes.set_xlabel("training steps per second, on one thread")
    axes.xaxis.set_major_formatter(lambda rate, _: f"{rate:,.0f}")
    axes.tick_params(axis="y", length=0)
    axes.tick_params(colors=GREY)
    axes.tick_params(axis="y", labelcolor=INK)
    axes.grid(visible=False, axis="y")
    axes.spines[["top", "right", "left"]].set_visible(False)
    described = "; ".join(f"{name} {rate:,.0f}" for name, rate in rates.items())
    return Picture(figure, f"Steps per second: {described}.")
