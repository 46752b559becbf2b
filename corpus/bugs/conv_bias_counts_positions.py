"""Convolution: the bias gradient counts positions and never reads the gradient that arrives.

Source: tracel-ai/burn, pull request 248 "fix: conv bias backward", mended in commit a74e4cd. The
windows of the input are given, so that the convolution is a matrix product.
"""

from typing import Annotated

import torch
from torch import Tensor

SOURCE = "tracel-ai/burn#248"
WRONG = ["dbias"]
KINDS = ["wrong-upstream"]


def forward(
    windows: Annotated[Tensor, "n, d, w"],
    weight: Annotated[Tensor, "w, o"],
    bias: Annotated[Tensor, "o"],
) -> Tensor:
    mapped = windows @ weight
    out = mapped + bias
    return out


def backward(
    dout: Tensor, windows: Tensor, weight: Tensor, bias: Tensor, n: int, d: int
) -> tuple[Tensor, Tensor, Tensor]:
    dwindows = dout @ weight.T
    dweight = torch.einsum("ndw,ndo->wo", windows, dout)
    dbias = torch.zeros_like(bias) + n * d
    return dwindows, dweight, dbias


def mended(dout: Tensor, windows: Tensor, weight: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    dwindows = dout @ weight.T
    dweight = torch.einsum("ndw,ndo->wo", windows, dout)
    dbias = dout.sum((0, 1))
    return dwindows, dweight, dbias
