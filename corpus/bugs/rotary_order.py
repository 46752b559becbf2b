"""Rotary embedding: the halves are turned before the product with sin, not after it.

Source: PaddlePaddle/Paddle, pull request 74716 "fix_fused_rotary_position_embedding". Seen only
when the two halves of the sin table differ, as its discussion shows.
"""

from typing import Annotated

import torch
from torch import Tensor

SOURCE = "PaddlePaddle/Paddle#74716"
WRONG = ["dx"]
KINDS = ["wrong-order", "brackets"]


def forward(
    x: Annotated[Tensor, "n, 2 * d"],
    cos: Annotated[Tensor, "n, 2 * d"],
    sin: Annotated[Tensor, "n, 2 * d"],
) -> Tensor:
    first = x[:, : x.shape[1] // 2]
    second = x[:, x.shape[1] // 2 :]
    opposite = -second
    turned = torch.cat([opposite, first], 1)
    along = x * cos
    across = turned * sin
    out = along + across
    return out


def backward(
    dout: Tensor, x: Tensor, cos: Tensor, sin: Tensor, turned: Tensor, d: int
) -> tuple[Tensor, Tensor, Tensor]:
    half = torch.cat([-dout[:, d:], dout[:, :d]], 1)
    dx = dout * cos - half * sin
    dcos = dout * x
    dsin = dout * turned
    return dx, dcos, dsin


def mended(
    dout: Tensor, x: Tensor, cos: Tensor, sin: Tensor, turned: Tensor, d: int
) -> tuple[Tensor, Tensor, Tensor]:
    across = dout * sin
    half = torch.cat([-across[:, d:], across[:, :d]], 1)
    dx = dout * cos - half
    dcos = dout * x
    dsin = dout * turned
    return dx, dcos, dsin
