"""RMS norm: the weight is missing from the input's gradient.

Source: karpathy/llm.c, pull request 763 "rmsnorm backward simple baseline kernel". In its review
azret tells of this bug in an RMS norm of their own, and how this kernel showed it.
"""

from typing import Annotated

from torch import Tensor

SOURCE = "karpathy/llm.c#763"
WRONG = ["dx"]
KINDS = ["missing-factor"]


def forward(x: Annotated[Tensor, "n, d"], weight: Annotated[Tensor, "d"]) -> Tensor:
    square = (x**2).mean(1, keepdim=True)
    rstd = (square + 1e-5) ** -0.5
    normed = x * rstd
    out = weight * normed
    return out


def backward(dout: Tensor, rstd: Tensor, normed: Tensor) -> tuple[Tensor, Tensor]:
    dweight = (dout * normed).sum(0)
    dx = rstd * (dout - normed * (dout * normed).mean(1, keepdim=True))
    return dx, dweight


def mended(dout: Tensor, weight: Tensor, rstd: Tensor, normed: Tensor) -> tuple[Tensor, Tensor]:
    dweight = (dout * normed).sum(0)
    dnormed = dout * weight
    dx = rstd * (dnormed - normed * (dnormed * normed).mean(1, keepdim=True))
    return dx, dweight
