"""Sigmoid layer: the formula for the output's slope is handed the weighted sum.

Source: benoitfragit/libBrain, commit b3038c1 "Fixing wrong activations derivatives". Commit 22f9864
"[fix #78] now using the summation in activation_derivative" had made the mistake.
"""

from typing import Annotated

import torch
from torch import Tensor

SOURCE = "benoitfragit/libBrain@b3038c1"
WRONG = ["dweighted"]
CARRIED = ["dx", "dw"]
KINDS = ["wrong-activation-point", "wrong-name"]


def forward(x: Annotated[Tensor, "n, d"], w: Annotated[Tensor, "d, h"]) -> Tensor:
    weighted = x @ w
    out = torch.sigmoid(weighted)
    return out


def backward(dout: Tensor, x: Tensor, w: Tensor, weighted: Tensor) -> tuple[Tensor, Tensor]:
    dweighted = dout * weighted * (1 - weighted)
    dx = dweighted @ w.T
    dw = x.T @ dweighted
    return dx, dw


def mended(dout: Tensor, x: Tensor, w: Tensor, weighted: Tensor) -> tuple[Tensor, Tensor]:
    value = torch.sigmoid(weighted)
    dweighted = dout * value * (1 - value)
    dx = dweighted @ w.T
    dw = x.T @ dweighted
    return dx, dw
