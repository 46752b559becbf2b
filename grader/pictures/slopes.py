"""The picture of a number that was moved both ways: the loss, the chord, the slopes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from grader.pictures.figures.sheet import (
    BACKWARD,
    GREEN,
    HAIRLINE,
    INK,
    PALER,
    Picture,
    new_axes,
    styled,
)
from grader.pictures.gradient_error import in_digits

_LINES: dict[str, dict[str, Any]] = {
    "yours": {"color": PALER[BACKWARD], "linewidth": 7},
    "slope found": {"color": GREEN, "linewidth": 2.5, "marker": "o"},
    "autograd": {"color": INK, "linewidth": 2, "linestyle": (0, (1.2, 1.2))},
}
"""From below: where slopes agree, the wider line is seen at both sides of the narrower, and
autograd's, drawn beyond the chord only, does not cover it."""

_FLAT = 1e-6
"""Changes of the loss much smaller than this are rounding, and are drawn flat."""

_TALLER = 3.0
"""A line that is steeper than the curve by more than this runs out of the picture."""


@styled
def draw_slopes(
    place: str,
    number: float,
    curve: tuple[Sequence[float], Sequence[float]],
    reach: float,
    slopes: Mapping[str, float | None],
) -> Picture:
    """Draw by how much the loss changes as one number moves, with the slopes as lines.

    Args:
        place: the number's name, such as "C[3, 5]".
        number: its value.
        curve: moves of the number, and by how much the loss changes at each.
        reach: how far from the number the chord ends.
        slopes: "slope found", which is drawn as the chord, "autograd" and "yours", if there is one.
    """
    moves, losses = (np.asarray(values) for values in curve)
    figure, (axes,) = new_axes(5.2, 3.7)
    axes.plot(number + moves, losses, color=HAIRLINE, linewidth=14, alpha=0.5, label="the loss")
    ends = np.interp([-reach, reach], moves, losses)
    tallest = spread = max(float(np.nanmax(np.abs(losses))), _FLAT)
    for name, look in _LINES.items():
        slope = slopes[name]
        if slope is None:
            continue
        label = f"{name}  {in_digits(slope, 4)}"
        is_chord = name == "slope found"
        at = np.array([-reach, reach]) if is_chord else moves[[0, -1]]
        if name == "autograd":
            at = np.array([at[0], -reach, np.nan, reach, at[1]])
        line = ends if is_chord else slope * at
        axes.plot(number + at, line, label=label, solid_capstyle="round", **look)
        if np.isfinite(slope):
            tallest = max(tallest, min(float(np.nanmax(np.abs(line))), _TALLER * spread))
    axes.plot(number, 0, color=INK, marker="o", markersize=7)
    axes.set_ylim(-1.1 * tallest, 1.1 * tallest)
    axes.set_xlabel(f"{place} (the chord is drawn wider, to be seen)")
    axes.set_ylabel("change of the loss")
    axes.ticklabel_format(axis="y", scilimits=(-3, 3), useMathText=True)
    figure.legend(loc="outside upper left", fontsize=11, ncols=2)
    said = "; ".join(
        f"{name} {in_digits(slope, 4)}" for name, slope in slopes.items() if slope is not None
    )
    return Picture(
        figure,
        f"The change of the loss as {place} moves, as a curve, with a chord from its left end to"
        f" its right end and a line for each slope through the middle. The slopes: {said}.",
    )
