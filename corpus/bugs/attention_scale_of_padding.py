"""Attention: the backward pass takes its scale from the padded width, not from the width itself.

Source: tile-ai/tilelang-ascend, pull request 1670 "[Fix] Non-16-aligned D_qk scale + Autograd
non-contiguous gradient (#1669)". The widths here are small, so the padding is to the next multiple
of 16 all the same.
"""

from typing import Annotated

import torch
from torch import Tensor

SOURCE = "tile-ai/tilelang-ascend#1670"
WRONG = ["dq", "dk", "dv"]
KINDS = ["constant-factor", "operator"]  # the factor is wrong because `//` rounds


def forward(
    q: Annotated[Tensor, "n, d"], k: Annotated[Tensor, "m, d"], v: Annotated[Tensor, "m, h"]
) -> Tensor:
    scores = q @ k.T
    scaled = scores * q.shape[1] ** -0.5
    p = torch.softmax(scaled, 1)
    o = p @ v
    return o


def backward(
    do: Tensor, q: Tensor, k: Tensor, v: Tensor, o: Tensor, d: int
) -> tuple[Tensor, Tensor, Tensor]:
    padded = -(-d // 16) * 16
    scale = padded**-0.5
    probabilities = torch.softmax(q @ k.T * scale, 1)
    dv = probabilities.T @ do
    delta = (do * o).sum(1, keepdim=True)
    slope = probabilities * (do @ v.T - delta) * scale
    dq = slope @ k
    dk = slope.T @ q
    return dq, dk, dv


def mended(
    do: Tensor, q: Tensor, k: Tensor, v: Tensor, o: Tensor, d: int
) -> tuple[Tensor, Tensor, Tensor]:
    scale = d**-0.5
    probabilities = torch.softmax(q @ k.T * scale, 1)
    dv = probabilities.T @ do
    delta = (do * o).sum(1, keepdim=True)
    slope = probabilities * (do @ v.T - delta) * scale
    dq = slope @ k
    dk = slope.T @ q
    return dq, dk, dv
