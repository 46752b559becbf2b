"""Power: the exponent's gradient takes the logarithm of a base that is zero.

Source: HIPS/autograd, commit cbf5c42 "fix log(0) bug in grad(np.power, 1)(0., 1.), fixes #149".
"""

from typing import Annotated

import torch
from torch import Tensor

SOURCE = "HIPS/autograd@cbf5c42"
WRONG = ["dy"]
KINDS = ["nan"]


def inputs(generator: torch.Generator, n: int, d: int) -> dict[str, Tensor]:
    x = torch.rand(n, d, generator=generator, dtype=torch.float64)
    x[0, 0] = 0
    y = torch.rand(n, d, generator=generator, dtype=torch.float64) + 1.5
    return {"x": x, "y": y}


def forward(x: Annotated[Tensor, "n, d"], y: Annotated[Tensor, "n, d"]) -> Tensor:
    out = x**y
    return out


def backward(dout: Tensor, x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    dx = dout * y * x ** (y - 1)
    dy = dout * x.log() * x**y
    return dx, dy


def mended(dout: Tensor, x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    dx = dout * y * x ** (y - 1)
    dy = dout * torch.where(x == 0, 1.0, x).log() * x**y
    return dx, dy
