"""Subtraction of a row: the gradient is copied out to the examples where it should be summed.

Source: apache/tvm, pull request 2465 "Fix broadcast add and subtract gradient calculation", mended
in commit eca4f88.
"""

from typing import Annotated

from torch import Tensor

SOURCE = "apache/tvm#2465"
WRONG = ["drow"]
KINDS = ["missing-sum"]


def forward(x: Annotated[Tensor, "n, d"], row: Annotated[Tensor, "d"]) -> Tensor:
    out = x - row
    return out


def backward(dout: Tensor) -> tuple[Tensor, Tensor]:
    dx = dout.clone()
    drow = -dout
    return dx, drow


def mended(dout: Tensor) -> tuple[Tensor, Tensor]:
    dx = dout.clone()
    drow = (-dout).sum(0)
    return dx, drow
