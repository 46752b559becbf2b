"""Padding: the input is copied over the gradient before it is returned.

Source: torch/nn, commit b13c8e6 "fixed broken nn.Padding: input was returned in backprop".
"""

from typing import Annotated

import torch
from torch import Tensor

SOURCE = "torch/nn@b13c8e6"
WRONG = ["dx"]
KINDS = ["missing-d", "wrong-upstream"]


def forward(x: Annotated[Tensor, "n, d"]) -> Tensor:
    out = torch.nn.functional.pad(x, (2, 1))
    return out


def backward(dout: Tensor, x: Tensor, d: int) -> Tensor:
    window = dout[:, 2 : 2 + d]
    dx = window.clone().copy_(x)
    return dx


def mended(dout: Tensor, d: int) -> Tensor:
    window = dout[:, 2 : 2 + d]
    dx = window.clone()
    return dx
