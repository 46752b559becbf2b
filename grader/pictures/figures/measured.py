"""Plots of what the cells of notebook 1 have measured."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from torch import Tensor

from grader.pictures.figures.sheet import (
    BACKWARD,
    FORWARD,
    GREEN,
    GREY,
    INK,
    SIGNED,
    Picture,
    fading_in,
    new_axes,
    styled,
)


@styled
def boosts(probabilities: Tensor, gradients: Tensor) -> Picture:
    """The gradient's size at the right characters, over their probabilities.

    Args:
        probabilities: of the right characters, one an example.
        gradients: of these probabilities.
    """
    figure, (axes,) = new_axes()
    curve = np.logspace(-3, 0, 100)
    n = len(probabilities)
    axes.loglog(curve, 1 / (n * curve), color=GREY, linewidth=1, label="1 / (n p)")
    axes.loglog(
        probabilities.tolist(),
        gradients.abs().tolist(),
        "o",
        color=BACKWARD,
        label=f"the {n} examples",
    )
    axes.set_xlabel("probability p of the right character")
    axes.set_ylabel("size of its gradient")
    axes.legend()
    return Picture(
        figure,
        f"The size of the gradient over the probability p: all {n} examples lie on the falling "
        "line 1 / (n p).",
    )


@styled
def gates(slopes: Tensor) -> Picture:
    """The slope of each unit for each example, as an image.

    Args:
        slopes: numbers from 0 to 1, (examples, units).
    """
    figure, (axes,) = new_axes(height=3.4)
    image = axes.imshow(slopes.numpy(), cmap=fading_in(GREEN), vmin=0, vmax=1, aspect="auto")
    axes.grid(visible=False)
    axes.set_title("what the gate lets through")
    axes.set_xlabel("unit")
    axes.set_ylabel("example")
    figure.colorbar(image)
    return Picture(
        figure,
        "A grid of units and examples, green where the gradient passes. No column is empty from "
        "top to bottom.",
    )


@styled
def which_gradient(first: Tensor, second: Tensor) -> Picture:
    """Two gradients as images, A and B, each in its own colour scale around zero.

    Args:
        first: (examples, units), drawn as A.
        second: the same, drawn as B.
    """
    figure, panels = new_axes(height=2.6, columns=2)
    for axes, gradient, letter in zip(panels, (first, second), "AB", strict=True):
        limit = gradient.abs().max().item()
        axes.imshow(gradient.numpy(), cmap=SIGNED, vmin=-limit, vmax=limit, aspect="auto")
        axes.grid(visible=False)
        axes.set(title=letter, xlabel="unit", ylabel="example")
    return Picture(
        figure,
        "Two grids of examples and units, green where a number is positive and purple where it is "
        "negative. A is speckled all over. In B each column has one colour from top to bottom.",
    )


@styled
def variance_estimates(
    sizes: Sequence[int], with_n: Sequence[float], with_n_minus_1: Sequence[float]
) -> Picture:
    """The average estimate of a variance that is 1, for batches of several sizes.

    Args:
        sizes: of the batches.
        with_n: the averages where the sum of squares is divided by n.
        with_n_minus_1: those where it is divided by n - 1.
    """
    figure, (axes,) = new_axes()
    axes.axhline(1, color=GREY, linewidth=1, label="the true variance")
    axes.plot(sizes, with_n, "o--", color=GREEN, label="divided by n")
    axes.plot(sizes, with_n_minus_1, "s-", color=INK, label="divided by n - 1")
    axes.set_xlabel("size of the batch")
    axes.set_ylabel("average estimate")
    axes.set_ylim(0.4, 1.1)
    axes.legend(loc="lower right")
    return Picture(
        figure,
        f"Divided by n, batches of {sizes[0]} find {with_n[0]:.2f} of the true variance, batches "
        f"of {sizes[-1]} {with_n[-1]:.2f}. Divided by n - 1 the average is 1 at every size.",
    )


@styled
def rows_of_the_table(characters: Sequence[str], lookups: Tensor, gradients: Tensor) -> Picture:
    """How often each row of an embedding table was looked up, and how long its gradient is.

    Args:
        characters: those of the rows.
        lookups: how often each was looked up.
        gradients: the lengths of the rows' gradients.
    """
    figure, (above, below) = new_axes(rows=2, height=3.8)
    above.bar(characters, lookups.tolist(), color=FORWARD)
    above.tick_params(labelbottom=False)
    for axes in (above, below):
        axes.grid(visible=False, axis="x")
    above.set_title("how often each row of C is looked up")
    below.bar(characters, gradients.tolist(), color=BACKWARD)
    below.set_title("length of its gradient")
    return Picture(
        figure,
        "Bars for each character, above how often it is looked up, below how long its row's "
        "gradient is: zero exactly where a character does not occur.",
    )
