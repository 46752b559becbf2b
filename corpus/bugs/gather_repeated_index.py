"""Gather: an entry that is picked twice keeps one of its two gradients.

Source: pytorch/pytorch, issue 1631 "Gather backward is incorrect with repeated indices".
"""

from typing import Annotated

import torch
from torch import Tensor

SOURCE = "pytorch/pytorch#1631"
WRONG = ["dx"]
KINDS = ["not-accumulated", "overwritten-branch"]


def inputs(generator: torch.Generator, n: int, d: int, k: int) -> dict[str, Tensor]:
    index = torch.randint(d, (n, 2 * k), generator=generator)
    index[:, 0] = index[:, 1]
    return {"index": index}


def forward(x: Annotated[Tensor, "n, d"], index: Annotated[Tensor, "n, 2 * k < d"]) -> Tensor:
    out = x.gather(1, index)
    return out


def backward(dout: Tensor, x: Tensor, index: Tensor) -> Tensor:
    dx = torch.zeros_like(x).scatter(1, index, dout)
    return dx


def mended(dout: Tensor, x: Tensor, index: Tensor) -> Tensor:
    dx = torch.zeros_like(x).scatter_add(1, index, dout)
    return dx
