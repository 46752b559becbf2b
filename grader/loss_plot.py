"""The picture of a training's loss, redrawn while the training goes on."""

from __future__ import annotations

import time
from collections.abc import Sequence

import torch
from IPython.display import DisplayHandle, display
from matplotlib.figure import Figure

from grader.figures.style import BLUE, HAIRLINE, ORANGE, PAPER, Picture
from makemore_data.training import ALL_STEPS, Run

SECONDS_BETWEEN = 2.0
"""Drawing takes a tenth of a second, which the training waits for."""

MOST_POINTS = 200


class LossPlot:
    """A picture of a run below a cell; call it with the run, and it shows how far that is.

    It is displayed at once: a progress bar that begins later stands below it, and is wiped out
    when it ends.

    Args:
        run: whose loss is drawn: the training loss in nats, over the steps.
    """

    def __init__(self, run: Run) -> None:
        picture = draw_losses(run.losses)
        self._handle: DisplayHandle = display(picture, display_id=True)  # type: ignore[no-untyped-call]
        self._drawn, self._step = time.monotonic(), run.step

    def __call__(self, run: Run, *, last: bool = False) -> None:
        """Draw the run as far as it is, unless that was done less than two seconds ago.

        Args:
            run: the same run, some steps further.
            last: draws in any case.
        """
        now = time.monotonic()
        if run.step == self._step or not (last or now - self._drawn >= SECONDS_BETWEEN):
            return
        self._handle.update(draw_losses(run.losses))  # type: ignore[no-untyped-call]
        self._drawn, self._step = time.monotonic(), run.step


def draw_losses(losses: Sequence[float]) -> Picture:
    """The minibatches' losses, averaged over stretches of at least 100 steps.

    Args:
        losses: one a step, in nats.
    """
    stretch = max(100, len(losses) // MOST_POINTS)
    points = len(losses) // stretch
    means = torch.tensor(losses[: points * stretch]).view(points, stretch).mean(1)
    figure = Figure(figsize=(6.8, 3.0), facecolor=PAPER, layout="constrained")
    axes = figure.add_subplot(facecolor=PAPER)
    axes.plot([stretch * (number + 1) for number in range(points)], means, color=BLUE)
    if len(losses) > ALL_STEPS // 2:
        axes.axvline(ALL_STEPS // 2, color=ORANGE, linestyle="--", linewidth=1)
        axes.annotate(
            "learning rate 0.1, then 0.01",
            (ALL_STEPS // 2, 0.97),
            xycoords=("data", "axes fraction"),
            xytext=(6, 0),
            textcoords="offset points",
            va="top",
            color=ORANGE,
            fontsize=10,
        )
    axes.set_title(f"loss (nats), mean of {stretch:,} minibatches each", loc="left", fontsize=11)
    axes.set_xlabel("training step")
    axes.xaxis.set_major_formatter(lambda step, _: f"{step:,.0f}")
    axes.grid(color=HAIRLINE, alpha=0.35)
    axes.spines[["top", "right"]].set_visible(False)
    return Picture(figure, f"The loss over {len(losses):,} training steps.")
