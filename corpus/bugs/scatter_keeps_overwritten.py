"""Scatter: entries that the forward pass overwrote still get a gradient.

Source: PaddlePaddle/Paddle, pull request 30604 "Fix scatter grad bug". Its text: select the
positions by index, and set them to 0.
"""

from typing import Annotated

from torch import Tensor

SOURCE = "PaddlePaddle/Paddle#30604"
WRONG = ["dx"]
KINDS = ["extra-term", "missing-factor"]


def forward(
    x: Annotated[Tensor, "n, d"],
    updates: Annotated[Tensor, "n, 1"],
    index: Annotated[Tensor, "n, 1 < d"],
) -> Tensor:
    out = x.scatter(1, index, updates)
    return out


def backward(dout: Tensor, index: Tensor) -> tuple[Tensor, Tensor]:
    dx = dout.clone()
    dupdates = dout.gather(1, index)
    return dx, dupdates


def mended(dout: Tensor, index: Tensor) -> tuple[Tensor, Tensor]:
    dx = dout.scatter(1, index, 0.0)
    dupdates = dout.gather(1, index)
    return dx, dupdates
