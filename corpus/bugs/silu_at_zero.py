"""SiLU: the sigmoid is found as output / input, which is 0 / 0 at zero.

Source: huggingface/candle, commit 1690ab4 "Fix the silu gradient issue on 0. (#2083)".
"""

from typing import Annotated

import torch
from torch import Tensor

SOURCE = "huggingface/candle@1690ab4"
WRONG = ["dx"]
KINDS = ["nan"]


def inputs(generator: torch.Generator, n: int, d: int) -> dict[str, Tensor]:
    x = torch.randn(n, d, generator=generator, dtype=torch.float64)
    x[0, 0] = 0
    return {"x": x}


def forward(x: Annotated[Tensor, "n, d"]) -> Tensor:
    gate = torch.sigmoid(x)
    out = x * gate
    return out


def backward(dout: Tensor, x: Tensor, out: Tensor) -> Tensor:
    sigmoid = out / x
    dx = dout * sigmoid * (1 + x * (1 - sigmoid))
    return dx


def mended(dout: Tensor, x: Tensor) -> Tensor:
    sigmoid = 1 / ((-x).exp() + 1)
    dx = dout * sigmoid * (1 + x * (1 - sigmoid))
    return dx
