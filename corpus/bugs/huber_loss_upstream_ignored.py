"""Huber loss: the gradient that arrives is left out.

Source: chainer/chainer, issue 1175 "HuberLoss's backward() should not ignore gy", mended in pull
request 1178 "Fix HuberLoss's backward computation" (merge commit fe51e81).
"""

from typing import Annotated

import torch
from torch import Tensor

SOURCE = "chainer/chainer#1175"
WRONG = ["dx"]
CARRIED = ["dt"]
KINDS = ["wrong-upstream"]


def forward(x: Annotated[Tensor, "n, d"], t: Annotated[Tensor, "n, d"]) -> Tensor:
    diff = x - t
    size = diff.abs()
    near = 0.5 * diff**2
    far = size - 0.5
    each = torch.where(size < 1, near, far)
    loss = each.sum(1)
    return loss


def backward(diff: Tensor) -> tuple[Tensor, Tensor]:
    mask = diff.abs() < 1
    dx = torch.where(mask, diff, diff.sign())
    dt = -dx
    return dx, dt


def mended(dloss: Tensor, diff: Tensor) -> tuple[Tensor, Tensor]:
    mask = diff.abs() < 1
    dx = dloss[:, None] * torch.where(mask, diff, diff.sign())
    dt = -dx
    return dx, dt
