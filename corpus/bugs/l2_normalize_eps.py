"""L2 normalisation: the norm's own slope is divided by the norm plus eps.

Source: chainer/chainer, pull request 4190 "Fix backward of NormalizeL2" (merge commit 2528232). Its
text: the backward computation was wrong for an eps that is not negligible.
"""

from typing import Annotated

from torch import Tensor

SOURCE = "chainer/chainer#4190"
WRONG = ["dx"]
KINDS = ["missing-eps", "wrong-name"]


def forward(x: Annotated[Tensor, "n, d"]) -> Tensor:
    square = (x**2).sum(1, keepdim=True)
    norm_noeps = square.sqrt()
    norm = norm_noeps + 0.1
    out = x / norm
    return out


def backward(dout: Tensor, x: Tensor, norm: Tensor) -> Tensor:
    reduced = (x * dout).sum(1, keepdim=True)
    dx = (dout * norm - reduced * x / norm) / norm**2
    return dx


def mended(dout: Tensor, x: Tensor, norm_noeps: Tensor, norm: Tensor) -> Tensor:
    reduced = (x * dout).sum(1, keepdim=True) / norm_noeps
    dx = (dout * norm - reduced * x) / norm**2
    return dx
