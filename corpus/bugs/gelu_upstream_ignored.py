"""GELU by tanh: the slope is returned without the gradient that arrives.

Source: sony/nnabla, pull request 690 "Fix Gelu Backward", mended in commit 3ad8d23.
"""

import math
from typing import Annotated

import torch
from torch import Tensor

SOURCE = "sony/nnabla#690"
WRONG = ["dx"]
KINDS = ["wrong-upstream"]


def forward(x: Annotated[Tensor, "n, d"]) -> Tensor:
    cube = x**3
    bent = x + 0.044715 * cube
    inner = math.sqrt(2 / math.pi) * bent
    t = torch.tanh(inner)
    gate = 0.5 * (1 + t)
    out = x * gate
    return out


def backward(x: Tensor, t: Tensor) -> Tensor:
    scale = math.sqrt(2 / math.pi)
    dx = 0.5 + 0.5 * scale * (x + 0.134145 * x**3) * (1 - t**2) + 0.5 * t
    return dx


def mended(dout: Tensor, x: Tensor, t: Tensor) -> Tensor:
    scale = math.sqrt(2 / math.pi)
    dx = dout * (0.5 * (1 + t) + 0.5 * x * (1 - t**2) * scale * (1 + 0.134145 * x**2))
    return dx
