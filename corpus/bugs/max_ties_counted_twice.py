"""Maximum along an axis: entries that share the maximum each get all of its gradient.

Source: HIPS/autograd, commit c48b874 "Made grad_chooser normalize its result by the number of
repeated entries. Fixes #138".
"""

from typing import Annotated

import torch
from torch import Tensor

SOURCE = "HIPS/autograd@c48b874"
WRONG = ["dx"]
KINDS = ["misrouted-max", "missing-factor"]


def inputs(generator: torch.Generator, n: int, d: int) -> dict[str, Tensor]:
    x = torch.randn(n, d, generator=generator, dtype=torch.float64)
    x[:, -1] = x.amax(1)
    return {"x": x}


def forward(x: Annotated[Tensor, "n, d"]) -> Tensor:
    out = x.amax(1, keepdim=True)
    return out


def backward(dout: Tensor, x: Tensor, out: Tensor) -> Tensor:
    chosen = x == out
    dx = dout * chosen
    return dx


def mended(dout: Tensor, x: Tensor, out: Tensor) -> Tensor:
    chosen = x == out
    dx = dout * chosen / chosen.sum(1, keepdim=True)
    return dx
