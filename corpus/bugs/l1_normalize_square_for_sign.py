"""L1 normalisation: the square of the input stands where its sign belongs.

Source: happynear/caffe-windows, issue 205 "NormalizeLayer L1 backward", mended in commit b3b4d83.
"""

from typing import Annotated

from torch import Tensor

SOURCE = "happynear/caffe-windows#205"
WRONG = ["dx"]
KINDS = ["wrong-name", "operator"]


def forward(x: Annotated[Tensor, "n, d"]) -> Tensor:
    size = x.abs()
    norm = size.sum(1, keepdim=True)
    out = x / norm
    return out


def backward(dout: Tensor, x: Tensor, norm: Tensor, out: Tensor) -> Tensor:
    a = (dout * out).sum(1, keepdim=True)
    dx = (dout - x**2 * a) / norm
    return dx


def mended(dout: Tensor, x: Tensor, norm: Tensor, out: Tensor) -> Tensor:
    a = (dout * out).sum(1, keepdim=True)
    dx = (dout - x.sign() * a) / norm
    return dx
