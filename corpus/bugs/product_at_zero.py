"""Product along an axis: the product without one entry is found by a division, 0 / 0 at zero.

Source: tinygrad/tinygrad, commit 0c96cdc "fix prod gradients at zero (#17404)".
"""

from typing import Annotated

import torch
from torch import Tensor

SOURCE = "tinygrad/tinygrad@0c96cdc"
WRONG = ["dx"]
KINDS = ["nan"]


def inputs(generator: torch.Generator, n: int, d: int) -> dict[str, Tensor]:
    x = torch.randn(n, d, generator=generator, dtype=torch.float64)
    x[0, 0] = 0
    return {"x": x}


def forward(x: Annotated[Tensor, "n, d"]) -> Tensor:
    out = x.prod(1, keepdim=True)
    return out


def backward(dout: Tensor, x: Tensor, out: Tensor) -> Tensor:
    dx = dout * out / x
    return dx


def mended(dout: Tensor, x: Tensor, out: Tensor) -> Tensor:
    is_zero = x == 0
    zeros = is_zero.sum(1, keepdim=True)
    safe = torch.where(is_zero, 1.0, x)
    at_zero = torch.where(is_zero & (zeros == 1), safe.prod(1, keepdim=True), 0.0)
    dx = dout * torch.where(zeros == 0, out / safe, at_zero)
    return dx
