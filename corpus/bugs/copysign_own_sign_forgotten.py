"""Copysign: the first argument's own sign is missing from its gradient.

Source: chalk-lab/Mooncake.jl, issue 1195 "copysign gradient wrong for negative first argument
(missing sign(x) factor)".
"""

from typing import Annotated

import torch
from torch import Tensor

SOURCE = "chalk-lab/Mooncake.jl#1195"
WRONG = ["dx"]
KINDS = ["missing-factor"]


def forward(x: Annotated[Tensor, "n, d"], y: Annotated[Tensor, "n, d"]) -> Tensor:
    out = torch.copysign(x, y)
    return out


def backward(dout: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    dx = dout * y.sign()
    dy = torch.zeros_like(y)
    return dx, dy


def mended(dout: Tensor, x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    dx = dout * x.sign() * y.sign()
    dy = torch.zeros_like(y)
    return dx, dy
