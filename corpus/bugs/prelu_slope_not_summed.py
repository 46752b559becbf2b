"""PReLU: the shared slope's gradient is not summed over the examples.

Source: tensorflow/tfjs-core, commit 1790146 "Fix derivative of PRELU when alpha gets broadcasted
and bump version to 0.14.5 (#1487)".
"""

from typing import Annotated

import torch
from torch import Tensor

SOURCE = "tensorflow/tfjs-core@1790146"
WRONG = ["dalpha"]
KINDS = ["missing-sum"]


def forward(x: Annotated[Tensor, "n, d"], alpha: Annotated[Tensor, "d"]) -> Tensor:
    sloped = alpha * x
    out = torch.where(x > 0, x, sloped)
    return out


def backward(dout: Tensor, x: Tensor, alpha: Tensor) -> tuple[Tensor, Tensor]:
    mask = x > 0
    dx = torch.where(mask, dout, dout * alpha)
    dalpha = torch.where(mask, 0.0, dout * x)
    return dx, dalpha


def mended(dout: Tensor, x: Tensor, alpha: Tensor) -> tuple[Tensor, Tensor]:
    mask = x > 0
    dx = torch.where(mask, dout, dout * alpha)
    dalpha = torch.where(mask, 0.0, dout * x).sum(0)
    return dx, dalpha
