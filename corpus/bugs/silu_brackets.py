"""SiLU: brackets are missing around the sum that should be divided.

Source: chelsea0x3b/dfdx, pull request 915 "Add SiLU activation function": a review comment found it
in cpu_kernel.rs, and the author mended it.
"""

from typing import Annotated

from torch import Tensor

SOURCE = "chelsea0x3b/dfdx#915"
WRONG = ["dx"]
KINDS = ["brackets"]


def forward(x: Annotated[Tensor, "n, d"]) -> Tensor:
    opposite = -x
    decay = opposite.exp()
    below = 1 + decay
    out = x / below
    return out


def backward(dout: Tensor, x: Tensor, decay: Tensor) -> Tensor:
    dx = dout * (1 + decay + x * decay / (1 + decay) ** 2)
    return dx


def mended(dout: Tensor, x: Tensor, decay: Tensor) -> Tensor:
    dx = dout * ((1 + decay + x * decay) / (1 + decay) ** 2)
    return dx
