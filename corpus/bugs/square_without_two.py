"""Square: the exponent was not brought down.

Source: torch/nn, commit 88c391a "corrected bug in backward of nn.Square".
"""

from typing import Annotated

from torch import Tensor

SOURCE = "torch/nn@88c391a"
WRONG = ["dx"]
KINDS = ["power-rule", "constant-factor"]


def forward(x: Annotated[Tensor, "n, d"]) -> Tensor:
    out = x**2
    return out


def backward(dout: Tensor, x: Tensor) -> Tensor:
    dx = dout * x
    return dx


def mended(dout: Tensor, x: Tensor) -> Tensor:
    dx = 2 * dout * x
    return dx
