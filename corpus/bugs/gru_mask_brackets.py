"""GRU cell with a mask: the gradient that arrives multiplies one of three terms only.

Source: marian-nmt/marian-dev, commit c7afb8b "fixed gradients in masking for GRU and LSTM".
"""

from typing import Annotated

import torch
from torch import Tensor

SOURCE = "marian-nmt/marian-dev@c7afb8b"
WRONG = ["dstate"]
KINDS = ["brackets", "wrong-upstream"]


def forward(
    state: Annotated[Tensor, "n, d"],
    candidate: Annotated[Tensor, "n, d"],
    update: Annotated[Tensor, "n, d"],
    mask: Annotated[Tensor, "n, 1"],
) -> Tensor:
    z = torch.sigmoid(update)
    h = torch.tanh(candidate)
    kept = z * state
    fresh = (1 - z) * h
    blended = kept + fresh
    change = blended - state
    taken = mask * change
    out = state + taken
    return out


def backward(
    dout: Tensor, state: Tensor, mask: Tensor, z: Tensor, h: Tensor, change: Tensor
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    dstate = mask * z * dout - mask + 1
    dcandidate = mask * (1 - z) * (1 - h * h) * dout
    dupdate = mask * (1 - z) * z * (state - h) * dout
    dmask = (dout * change).sum(1, keepdim=True)
    return dstate, dcandidate, dupdate, dmask


def mended(
    dout: Tensor, state: Tensor, mask: Tensor, z: Tensor, h: Tensor, change: Tensor
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    dstate = (mask * z - mask + 1) * dout
    dcandidate = mask * (1 - z) * (1 - h * h) * dout
    dupdate = mask * (1 - z) * z * (state - h) * dout
    dmask = (dout * change).sum(1, keepdim=True)
    return dstate, dcandidate, dupdate, dmask
