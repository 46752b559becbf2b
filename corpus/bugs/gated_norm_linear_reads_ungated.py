"""Gated norm and linear layer: the linear weight's gradient reads the norm before its gate.

Source: fla-org/flash-linear-attention, commit 674f085 "[Fix] Gate the recomputed output in
layer_norm_gated backward (#1071)". The norm is an RMS norm here.
"""

from typing import Annotated

import torch
from torch import Tensor

SOURCE = "fla-org/flash-linear-attention@674f085"
WRONG = ["dlinear"]
KINDS = ["wrong-name", "missing-factor"]


def forward(
    x: Annotated[Tensor, "n, d"],
    gate: Annotated[Tensor, "n, d"],
    weight: Annotated[Tensor, "d"],
    linear: Annotated[Tensor, "d, k"],
) -> Tensor:
    square = (x**2).mean(1, keepdim=True)
    rstd = (square + 1e-5) ** -0.5
    xhat = x * rstd
    y = xhat * weight
    sigmoid = torch.sigmoid(gate)
    silu = gate * sigmoid
    gated = y * silu
    out = gated @ linear
    return out


def backward(
    dout: Tensor,
    gate: Tensor,
    weight: Tensor,
    linear: Tensor,
    rstd: Tensor,
    xhat: Tensor,
    y: Tensor,
    sigmoid: Tensor,
    silu: Tensor,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    dlinear = y.T @ dout
    dgated = dout @ linear.T
    dgate = dgated * y * sigmoid * (1 + gate * (1 - sigmoid))
    dy = dgated * silu
    dweight = (dy * xhat).sum(0)
    dxhat = dy * weight
    dx = (dxhat - xhat * (xhat * dxhat).mean(1, keepdim=True)) * rstd
    return dx, dgate, dweight, dlinear


def mended(
    dout: Tensor,
    gate: Tensor,
    weight: Tensor,
    linear: Tensor,
    rstd: Tensor,
    xhat: Tensor,
    y: Tensor,
    sigmoid: Tensor,
    silu: Tensor,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    dlinear = (y * silu).T @ dout
    dgated = dout @ linear.T
    dgate = dgated * y * sigmoid * (1 + gate * (1 - sigmoid))
    dy = dgated * silu
    dweight = (dy * xhat).sum(0)
    dxhat = dy * weight
    dx = (dxhat - xhat * (xhat * dxhat).mean(1, keepdim=True)) * rstd
    return dx, dgate, dweight, dlinear
