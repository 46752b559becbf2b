"""GELU by tanh: the slope of what stands inside the tanh is missing.

Source: ravin-d-27/PyDeepFlow, pull request 89 "feat(activations): Implement and test GELU and Swish
functions", mended in commit e65b8f4.
"""

import math
from typing import Annotated

import torch
from torch import Tensor

SOURCE = "ravin-d-27/PyDeepFlow#89"
WRONG = ["dx"]
KINDS = ["missing-factor"]


def forward(x: Annotated[Tensor, "n, d"]) -> Tensor:
    cube = x**3
    bent = x + 0.044715 * cube
    z = math.sqrt(2 / math.pi) * bent
    t = torch.tanh(z)
    gate = 0.5 * (1 + t)
    out = x * gate
    return out


def backward(dout: Tensor, x: Tensor, t: Tensor) -> Tensor:
    dx = dout * (0.5 * (1 + t) + 0.5 * x * (1 - t**2))
    return dx


def mended(dout: Tensor, x: Tensor, t: Tensor) -> Tensor:
    slope = math.sqrt(2 / math.pi) * (1 + 3 * 0.044715 * x**2)
    dx = dout * (0.5 * (1 + t) + 0.5 * x * (1 - t**2) * slope)
    return dx
