"""Pictures of a training: a step of it, its loss, the letters learnt, the race of the loops."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from functools import partial

import torch
from matplotlib.ticker import MaxNLocator
from torch import Tensor

from grader.pictures.figures.sheet import (
    BACKWARD,
    FORK,
    FORWARD,
    GREEN,
    GREY,
    HAIRLINE,
    INK,
    Picture,
    new_axes,
    new_sheet,
    styled,
)
from makemore_data.training.train import ALL_STEPS, Run

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
        # Notebooks have it; a figure alone does not need it.
        from IPython.display import DisplayHandle, display

        picture = draw_losses(run.losses)
        self._handle: DisplayHandle = display(picture, display_id=True)  # type: ignore[no-untyped-call]
        self._drawn, self._step = time.monotonic(), run.step

    def __call__(self, run: Run, *, last: bool = False) -> None:
        """Draw the run as far as it is, at most once in two seconds.

        Args:
            run: the same run, some steps further.
            last: draw in any case.
        """
        now = time.monotonic()
        if run.step == self._step or not (last or now - self._drawn >= SECONDS_BETWEEN):
            return
        self._handle.update(draw_losses(run.losses))  # type: ignore[no-untyped-call]
        self._drawn, self._step = time.monotonic(), run.step


@styled
def draw_losses(losses: Sequence[float]) -> Picture:
    """Draw the minibatches' losses, averaged over stretches of 100 steps or more.

    A run that has just begun is drawn with shorter ones: there is something to see at once.

    Args:
        losses: one a step, in nats.
    """
    stretch = max(1, min(100, len(losses) // 10), len(losses) // MOST_POINTS)
    points = len(losses) // stretch
    means = torch.tensor(losses[: points * stretch]).view(points, stretch).mean(1)
    figure, (axes,) = new_axes(height=3.0)
    axes.plot([stretch * (number + 1) for number in range(points)], means, color=GREEN)
    if not losses:  # ticks of an empty plot would be "-0 -0 0 0"
        axes.set(xticks=[0], yticks=[], xlim=(0, 1))
    if len(losses) > ALL_STEPS // 2:
        axes.axvline(ALL_STEPS // 2, color=GREY, linestyle="--", linewidth=1)
        axes.annotate(
            "learning rate 0.1, then 0.01",
            (ALL_STEPS // 2, 0.97),
            xycoords=("data", "axes fraction"),
            xytext=(6, 0),
            textcoords="offset points",
            va="top",
            color=GREY,
            fontsize=10,
        )
    of_each = f", mean of {stretch:,} minibatches each" if stretch > 1 else " of each minibatch"
    axes.set_title(f"loss (nats){of_each}")
    axes.set_xlabel("training step")
    axes.xaxis.set_major_formatter(lambda step, _: f"{step:,.0f}")
    return Picture(figure, f"The loss over {len(losses):,} training steps.")


@styled
def race_chart(rates: Mapping[str, float]) -> Picture:
    """Draw steps per second as bars, the first on top; the last is the limit, in grey."""
    names = list(rates)
    figure, (axes,) = new_axes(height=0.42 * len(names) + 0.7)
    colours = [GREEN] * (len(names) - 1) + [HAIRLINE]
    axes.barh(names, list(rates.values()), color=colours, height=0.62)
    axes.invert_yaxis()
    first = rates[names[0]]
    for place, rate in enumerate(rates.values()):
        text = f" {rate:,.0f}  ({rate / first:.1f} ×)"
        axes.text(rate, place, text, va="center", color=INK, fontsize=10)
    axes.set_xlim(0, max(rates.values()) * 1.4)
    axes.set_xlabel("training steps per second, on one thread")
    axes.xaxis.set_major_locator(MaxNLocator(5))
    axes.xaxis.set_major_formatter(lambda rate, _: f"{rate:,.0f}")
    axes.tick_params(axis="y", length=0, labelcolor=INK)
    axes.grid(visible=False, axis="y")
    axes.spines[["left"]].set_visible(False)
    described = "; ".join(f"{name} {rate:,.0f}" for name, rate in rates.items())
    return Picture(figure, f"Steps per second: {described}.")


@styled
def letter_maps(embeddings: Mapping[str, Tensor], itos: Mapping[int, str]) -> Picture:
    """Draw letters in the two directions in which their rows of a matrix differ most.

    Two maps stand side by side. Each title says how much of the rows' variance its map shows.

    Args:
        embeddings: matrices with a row for each character, such as C, by the title of their map.
        itos: from a row's number to its character; the vowels are drawn in green.
    """
    rows = math.ceil(len(embeddings) / 2)
    figure, panels = new_axes(6.8, 3.1 * rows, columns=2, rows=rows)
    orders = []
    for axes, (title, C) in zip(panels, embeddings.items(), strict=True):
        points = flat_map(C)
        shown = float(points.square().sum() / (C - C.mean(0)).square().sum())
        across, up = apart(points).T.tolist()
        orders.append(
            f"{title} ({shown:.0%} of the variance):"
            f" {' '.join(itos[index] for index in points[:, 0].argsort().tolist())}"
        )
        axes.scatter(across, up, s=0)  # the letters alone would not set the limits
        for index, letter in itos.items():
            is_vowel = letter in "aeiou"
            axes.annotate(
                letter,
                (across[index], up[index]),
                ha="center",
                va="center",
                color=GREEN if is_vowel else INK,
                weight="bold" if is_vowel or letter == "." else "normal",
                fontsize=20 if letter == "." else 13,
            )
        axes.margins(0.1)
        axes.set_title(f"{title} ({shown:.0%})")
        axes.set(xticks=[], yticks=[])
        axes.spines[:].set_visible(True)
    return Picture(figure, f"Maps of the letters. From left to right, {'; '.join(orders)}.")


def flat_map(C: Tensor) -> Tensor:
    """The rows of C in their two principal components, (vocab_size, 2), with row 1 at the left."""
    centred = C - C.mean(0)
    _, _, directions = torch.linalg.svd(centred, full_matrices=False)
    points: Tensor = centred @ directions[:2].T
    # A principal component has no sign of its own.
    return points * torch.where(points[1] > 0, -1.0, 1.0)


LETTER = 0.062
"""How far apart letters have to be, of a map's width, so that none covers another."""


def apart(points: Tensor) -> Tensor:
    """Points (N, 2) with those that are too near to each other pushed apart."""
    size = points.max(0).values - points.min(0).values
    places = points / size
    for _ in range(200):
        gaps = places[:, None] - places
        distances = gaps.norm(dim=2, keepdim=True).clamp(min=1e-9)
        lack = (LETTER - distances).clamp(min=0)
        places = places + (lack / 2 * gaps / distances).sum(1)
    return places * size


def training_loop() -> Picture:
    """One step of the training: minibatch, forward, backward, update; what is left at its end."""
    sheet = new_sheet(13.4, 8.7)
    left, right, far, top, middle, bottom = 2.5, 7.9, 12.0, 1.3, 4.3, 7.3
    box = partial(sheet.box, width=4.2, height=1.7)
    box((left, top), "minibatch\n32 rows: Xb, Yb")
    box((right, top), "forward\nloss", colour=FORWARD)
    box((right, bottom), "backward\nseven gradients", colour=BACKWARD)
    box((left, bottom), "update\neach by its gradient", colour=FORK)
    box((left, middle), "the run\nparameters,\ngenerator, losses", height=2.1)
    box((far, middle), "running\nmean and\nvariance", width=2.5, height=2.1)
    sheet.arrow((left + 2.1, top), (right - 2.1, top))
    sheet.arrow((right, top + 0.85), (right, bottom - 0.85), colour=BACKWARD)
    sheet.arrow((right - 2.1, bottom), (left + 2.1, bottom), colour=BACKWARD)
    sheet.arrow((left, bottom - 0.85), (left, middle + 1.05), colour=FORK)
    sheet.arrow((left, middle - 1.05), (left, top + 0.85))
    sheet.arrow((left + 2.1, middle - 0.5), (right - 2.1, top + 0.6))
    sheet.arrow((right + 2.1, top + 0.6), (far, middle - 1.05), colour=HAIRLINE)
    sheet.write((left + 0.25, 2.65), "draws", FORWARD, 10.5, ha="left")
    sheet.write((5.2, 3.2), "parameters", FORWARD, 10.5, ha="left")
    sheet.write((right + 0.25, 5.0), "every number\non the way", BACKWARD, 10.5, ha="left")
    sheet.write((left + 0.25, 5.9), "in place", FORK, 10.5, ha="left")
    sheet.write((far, middle + 1.3), "for later", GREY, 10.5, va="top")
    return sheet.picture(
        "A ring. The run holds parameters, generator and losses. The generator draws a minibatch; "
        "the forward pass makes a loss of it and of the parameters; the backward pass makes seven "
        "gradients of every number on the way; the update changes the parameters in place. Then it "
        "begins again. Outside of the ring, the batch's mean and variance go into running ones, "
        "for later."
    )
