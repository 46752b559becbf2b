"""Huber distance: a factor 2 that is the squared distance's, not this one's.

Source: clab/dynet, pull request 1311 "Fix HuberDistance::backward_dev_impl and correct log sigmoid
doc.", mended in commit 6e394e7.
"""

from typing import Annotated

import torch
from torch import Tensor

SOURCE = "clab/dynet#1311"
WRONG = ["dx", "dy"]
KINDS = ["constant-factor"]


def forward(x: Annotated[Tensor, "d"], y: Annotated[Tensor, "d"]) -> Tensor:
    diff = x - y
    size = diff.abs()
    near = 0.5 * diff**2
    far = size - 0.5
    each = torch.where(size < 1, near, far)
    distance = each.sum()
    return distance


def backward(ddistance: Tensor, diff: Tensor) -> tuple[Tensor, Tensor]:
    scale = 2 * ddistance
    dx = scale * torch.where(diff.abs() < 1, diff, diff.sign())
    dy = scale * torch.where(diff.abs() < 1, -diff, -diff.sign())
    return dx, dy


def mended(ddistance: Tensor, diff: Tensor) -> tuple[Tensor, Tensor]:
    scale = ddistance
    dx = scale * torch.where(diff.abs() < 1, diff, diff.sign())
    dy = scale * torch.where(diff.abs() < 1, -diff, -diff.sign())
    return dx, dy
