"""Softplus: the slope is taken at the gradient that arrives, not at the input.

Source: NVlabs/tiny-cuda-nn, pull request 130 "Fixed Softplus backward", mended in commit 213b585.
"""

from typing import Annotated

from torch import Tensor

SOURCE = "NVlabs/tiny-cuda-nn#130"
WRONG = ["dx"]
KINDS = ["wrong-name", "wrong-activation-point"]


def forward(x: Annotated[Tensor, "n, d"]) -> Tensor:
    steep = 10 * x
    growth = steep.exp()
    above = growth + 1
    logarithm = above.log()
    out = logarithm / 10
    return out


def backward(dout: Tensor) -> Tensor:
    tmp = (10 * dout).exp()
    dx = dout * (tmp / (tmp + 1))
    return dx


def mended(dout: Tensor, x: Tensor) -> Tensor:
    tmp = (10 * x).exp()
    dx = dout * (tmp / (tmp + 1))
    return dx
