"""GRU over two steps: the forget gate multiplies the carried gradient one step late.

Source: open-lm-engine/accelerated-model-architectures, pull request 249 "fix GRU backward pass",
mended in commit 219fac5. The gates and candidates of both steps are given here.
"""

from typing import Annotated

import torch
from torch import Tensor

SOURCE = "open-lm-engine/accelerated-model-architectures#249"
WRONG = ["dy1", "dh"]
CARRIED = ["df1", "dz1"]
KINDS = ["wrong-name", "missing-factor"]


def forward(
    h: Annotated[Tensor, "n, d"],
    f1: Annotated[Tensor, "n, d"],
    z1: Annotated[Tensor, "n, d"],
    f2: Annotated[Tensor, "n, d"],
    z2: Annotated[Tensor, "n, d"],
) -> Tensor:
    kept1 = f1 * h
    fresh1 = (1 - f1) * z1
    y1 = kept1 + fresh1
    kept2 = f2 * y1
    fresh2 = (1 - f2) * z2
    y2 = kept2 + fresh2
    y = torch.stack([y1, y2])
    return y


def backward(
    dy: Tensor, h: Tensor, f1: Tensor, z1: Tensor, f2: Tensor, z2: Tensor, y1: Tensor
) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    dy2 = dy[1]
    df2 = dy2 * (y1 - z2)
    dz2 = dy2 * (1 - f2)
    dy1 = dy[0] + f1 * dy2
    df1 = dy1 * (h - z1)
    dz1 = dy1 * (1 - f1)
    dh = dy1.clone()
    return dh, df1, dz1, df2, dz2


def mended(
    dy: Tensor, h: Tensor, f1: Tensor, z1: Tensor, f2: Tensor, z2: Tensor, y1: Tensor
) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    dy2 = dy[1]
    df2 = dy2 * (y1 - z2)
    dz2 = dy2 * (1 - f2)
    dy1 = dy[0] + f2 * dy2
    df1 = dy1 * (h - z1)
    dz1 = dy1 * (1 - f1)
    dh = f1 * dy1
    return dh, df1, dz1, df2, dz2
