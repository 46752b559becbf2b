"""RMS norm before a layer: the residual's gradient is added before the norm's slope, not after it.

Source: Dao-AILab/quack, pull request 53 "Fix gradient computation in RMS PreNorm backward pass",
mended in commit 3e0fa64.
"""

from typing import Annotated

import torch
from torch import Tensor

SOURCE = "Dao-AILab/quack#53"
WRONG = ["dnormed", "dsummed"]
CARRIED = ["dx", "dresidual", "dweight"]
KINDS = ["extra-term", "missing-branch"]


def forward(
    x: Annotated[Tensor, "n, d"],
    residual: Annotated[Tensor, "n, d"],
    weight: Annotated[Tensor, "d"],
) -> Tensor:
    summed = x + residual
    square = (summed**2).mean(1, keepdim=True)
    rstd = (square + 1e-6) ** -0.5
    x_hat = summed * rstd
    normed = x_hat * weight
    both = torch.stack([normed, summed])
    return both


def backward(
    dboth: Tensor, weight: Tensor, rstd: Tensor, x_hat: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    dnormed = dboth[0] + dboth[1]
    dx_hat = dnormed * weight
    dsummed = (dx_hat - x_hat * (x_hat * dx_hat).mean(1, keepdim=True)) * rstd
    dweight = (dnormed * x_hat).sum(0)
    dx = dsummed
    dresidual = dsummed
    return dx, dresidual, dweight


def mended(
    dboth: Tensor, weight: Tensor, rstd: Tensor, x_hat: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    dnormed = dboth[0]
    dx_hat = dnormed * weight
    dsummed = (dx_hat - x_hat * (x_hat * dx_hat).mean(1, keepdim=True)) * rstd
    dsummed = dsummed + dboth[1]
    dweight = (dnormed * x_hat).sum(0)
    dx = dsummed
    dresidual = dsummed
    return dx, dresidual, dweight
