"""Grouped RMS norm: the backward pass takes its mean over the whole row, not over each group.

Source: state-spaces/mamba, pull request 547 "Fix Consider group_size in layer_norm_bwd". Its text:
the group size fell back to the whole dimension in the backward pass.
"""

from typing import Annotated

from torch import Tensor

SOURCE = "state-spaces/mamba#547"
WRONG = ["dx"]
KINDS = ["wrong-axis"]


def forward(x: Annotated[Tensor, "n, g, c"], weight: Annotated[Tensor, "g, c"]) -> Tensor:
    square = (x**2).mean(2, keepdim=True)
    rstd = (square + 1e-5) ** -0.5
    xhat = x * rstd
    out = xhat * weight
    return out


def backward(dout: Tensor, weight: Tensor, rstd: Tensor, xhat: Tensor) -> tuple[Tensor, Tensor]:
    dweight = (dout * xhat).sum(0)
    dxhat = dout * weight
    dx = (dxhat - xhat * (xhat * dxhat).mean((1, 2), keepdim=True)) * rstd
    return dx, dweight


def mended(dout: Tensor, weight: Tensor, rstd: Tensor, xhat: Tensor) -> tuple[Tensor, Tensor]:
    dweight = (dout * xhat).sum(0)
    dxhat = dout * weight
    dx = (dxhat - xhat * (xhat * dxhat).mean(2, keepdim=True)) * rstd
    return dx, dweight
