"""Look-up of rows: a row that is used twice keeps one of its two gradients.

Source: PaddlePaddle/Paddle, pull request 17662 "Gather dup index grad fix", and 17952 "Fix scatter
and gather op when has duplicate index", which was merged.
"""

from typing import Annotated

import torch
from torch import Tensor

SOURCE = "PaddlePaddle/Paddle#17952"
WRONG = ["dtable"]
KINDS = ["not-accumulated"]


def inputs(generator: torch.Generator, v: int, d: int, n: int) -> dict[str, Tensor]:
    index = torch.randint(v, (2 * n,), generator=generator)
    index[0] = index[1]
    return {"index": index}


def forward(table: Annotated[Tensor, "v, d"], index: Annotated[Tensor, "2 * n < v"]) -> Tensor:
    out = table[index]
    return out


def backward(dout: Tensor, table: Tensor, index: Tensor) -> Tensor:
    dtable = torch.zeros_like(table)
    dtable[index] = dout
    return dtable


def mended(dout: Tensor, table: Tensor, index: Tensor) -> Tensor:
    dtable = torch.zeros_like(table)
    dtable.index_add_(0, index, dout)
    return dtable
