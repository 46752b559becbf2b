"""Group norm: the gain's gradient reads the mean and deviation of another group.

Source: tenstorrent/tt-metal, pull request 56202 "Fix moreh_group_norm_backward gamma_grad group
index from global channel". On one core the group was channel % groups, not channel // group size.
"""

from typing import Annotated

import torch
from torch import Tensor

SOURCE = "tenstorrent/tt-metal#56202"
WRONG = ["dgamma"]
KINDS = ["wrong-index"]


def forward(x: Annotated[Tensor, "n, g, c"], gamma: Annotated[Tensor, "g * c"]) -> Tensor:
    mean = x.mean(2, keepdim=True)
    centred = x - mean
    variance = (centred**2).mean(2, keepdim=True)
    rstd = (variance + 1e-5) ** -0.5
    xhat = centred * rstd
    channels = xhat.flatten(1)
    out = channels * gamma
    return out


def backward(
    dout: Tensor,
    x: Tensor,
    gamma: Tensor,
    mean: Tensor,
    rstd: Tensor,
    xhat: Tensor,
    g: int,
    c: int,
) -> tuple[Tensor, Tensor]:
    group = torch.arange(g * c) % g
    dgamma = (dout * (x.flatten(1) - mean[:, group, 0]) * rstd[:, group, 0]).sum(0)
    dxhat = (dout * gamma).view_as(x)
    dx = dxhat - dxhat.mean(2, keepdim=True) - xhat * (dxhat * xhat).mean(2, keepdim=True)
    dx = dx * rstd
    return dx, dgamma


def mended(
    dout: Tensor,
    x: Tensor,
    gamma: Tensor,
    mean: Tensor,
    rstd: Tensor,
    xhat: Tensor,
    g: int,
    c: int,
) -> tuple[Tensor, Tensor]:
    group = torch.arange(g * c) // c
    dgamma = (dout * (x.flatten(1) - mean[:, group, 0]) * rstd[:, group, 0]).sum(0)
    dxhat = (dout * gamma).view_as(x)
    dx = dxhat - dxhat.mean(2, keepdim=True) - xhat * (dxhat * xhat).mean(2, keepdim=True)
    dx = dx * rstd
    return dx, dgamma
