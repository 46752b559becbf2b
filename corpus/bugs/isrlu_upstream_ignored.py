"""ISRLU as a custom Function: backward returns the slope alone.

Source: pytorch/pytorch, issue 4355 "gradcheck fails with cryptic error": the code in the report
leaves out grad_out.
"""

from typing import Annotated

from torch import Tensor

SOURCE = "pytorch/pytorch#4355"
WRONG = ["dx"]
KINDS = ["wrong-upstream"]


def forward(x: Annotated[Tensor, "n, d"]) -> Tensor:
    negatives = x.clamp(max=0)
    nisr = (1 + negatives**2) ** -0.5
    out = x * nisr
    return out


def backward(nisr: Tensor) -> Tensor:
    dx = nisr**3
    return dx


def mended(dout: Tensor, nisr: Tensor) -> Tensor:
    dx = dout * nisr**3
    return dx
