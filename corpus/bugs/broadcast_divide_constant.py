"""Division by a row: the quotient is divided by twice the divisor, not by its negative.

Source: apache/tvm, commit 3597dfb "[NNVM] Fix gradients for broadcast_div (#1512)".
"""

from typing import Annotated

import torch
from torch import Tensor

SOURCE = "apache/tvm@3597dfb"
WRONG = ["drow"]
KINDS = ["constant-factor"]


def inputs(generator: torch.Generator, n: int, d: int) -> dict[str, Tensor]:
    return {"row": torch.rand(d, generator=generator, dtype=torch.float64) + 0.5}


def forward(x: Annotated[Tensor, "n, d"], row: Annotated[Tensor, "d"]) -> Tensor:
    out = x / row
    return out


def backward(dout: Tensor, row: Tensor, out: Tensor) -> tuple[Tensor, Tensor]:
    dx = dout / row
    drow = (out / (2 * row) * dout).sum(0)
    return dx, drow


def mended(dout: Tensor, row: Tensor, out: Tensor) -> tuple[Tensor, Tensor]:
    dx = dout / row
    drow = (out / -row * dout).sum(0)
    return dx, drow
