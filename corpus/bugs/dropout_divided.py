"""Dropout in evaluation: the backward pass divides where the forward pass multiplied.

Source: torch/nn, commit ac00478 "fixed dropout backprop in evaluation mode".
"""

from typing import Annotated

from torch import Tensor

SOURCE = "torch/nn@ac00478"
WRONG = ["dx"]
KINDS = ["operator", "constant-factor"]


def forward(x: Annotated[Tensor, "n, d"]) -> Tensor:
    out = x * (1 - 0.3)
    return out


def backward(dout: Tensor) -> Tensor:
    dx = dout / (1 - 0.3)
    return dx


def mended(dout: Tensor) -> Tensor:
    dx = dout * (1 - 0.3)
    return dx
