"""Padding on one side: cutting off the last 0 columns leaves none.

Source: HIPS/autograd, commit 7b61be3 "Fix pad vjp for zero padding".
"""

from typing import Annotated

import torch
from torch import Tensor

SOURCE = "HIPS/autograd@7b61be3"
WRONG = ["dx"]
KINDS = ["wrong-index", "wrong-shape"]


def forward(x: Annotated[Tensor, "n, d"]) -> Tensor:
    out = torch.nn.functional.pad(x, (2, 0))
    return out


def backward(dout: Tensor) -> Tensor:
    left, right = 2, 0
    dx = dout[:, left:-right]
    return dx


def mended(dout: Tensor) -> Tensor:
    left, right = 2, 0
    dx = dout[:, left : -right or None]
    return dx
