"""Arc tangent: the derivative has the wrong sign.

Source: chainer/chainer, commit b3dc58f "Fix derivative of arctan".
"""

from typing import Annotated

from torch import Tensor

SOURCE = "chainer/chainer@b3dc58f"
WRONG = ["dx"]
KINDS = ["sign"]


def forward(x: Annotated[Tensor, "n, d"]) -> Tensor:
    out = x.atan()
    return out


def backward(dout: Tensor, x: Tensor) -> Tensor:
    dx = -dout / (1 + x * x)
    return dx


def mended(dout: Tensor, x: Tensor) -> Tensor:
    dx = dout / (1 + x * x)
    return dx
