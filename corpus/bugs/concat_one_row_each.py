"""Concatenation: operand i gets row i, as if each were one row long.

Source: tracel-ai/burn, commit 71d7ebb "Fix concat backward with more than 1 dim (#402)".
"""

from typing import Annotated

import torch
from torch import Tensor

SOURCE = "tracel-ai/burn@71d7ebb"
WRONG = ["dx", "dy"]
KINDS = ["wrong-index", "partial-rows", "wrong-shape"]


def forward(x: Annotated[Tensor, "n, d"], y: Annotated[Tensor, "m, d"]) -> Tensor:
    out = torch.cat([x, y])
    return out


def backward(dout: Tensor) -> tuple[Tensor, Tensor]:
    dx = dout[0:1]
    dy = dout[1:2]
    return dx, dy


def mended(dout: Tensor, n: int, m: int) -> tuple[Tensor, Tensor]:
    dx = dout[0:n]
    dy = dout[n : n + m]
    return dx, dy
