"""LSTM cell that returns its cell state too: the gradient through that state is left out.

Source: deeplearning4j/deeplearning4j, issue 8838 "lstmLayer_bp: not taking into account gradient
contribution from last cell state", closed as fixed.
"""

from typing import Annotated

import torch
from torch import Tensor

SOURCE = "deeplearning4j/deeplearning4j#8838"
WRONG = ["dcell"]
CARRIED = ["dstart", "dforget", "denter", "dnew"]
KINDS = ["missing-branch"]


def forward(
    start: Annotated[Tensor, "n, d"],
    forget: Annotated[Tensor, "n, d"],
    enter: Annotated[Tensor, "n, d"],
    new: Annotated[Tensor, "n, d"],
    leave: Annotated[Tensor, "n, d"],
) -> Tensor:
    f = torch.sigmoid(forget)
    i = torch.sigmoid(enter)
    g = torch.tanh(new)
    o = torch.sigmoid(leave)
    kept = f * start
    written = i * g
    cell = kept + written
    shown = torch.tanh(cell)
    hidden = o * shown
    last = torch.stack([hidden, cell])
    return last


def backward(
    dlast: Tensor,
    start: Tensor,
    f: Tensor,
    i: Tensor,
    g: Tensor,
    o: Tensor,
    shown: Tensor,
) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    dhidden = dlast[0]
    dcell = dhidden * o * (1 - shown**2)
    dleave = dhidden * shown * o * (1 - o)
    dstart = dcell * f
    dforget = dcell * start * f * (1 - f)
    denter = dcell * g * i * (1 - i)
    dnew = dcell * i * (1 - g**2)
    return dstart, dforget, denter, dnew, dleave


def mended(
    dlast: Tensor,
    start: Tensor,
    f: Tensor,
    i: Tensor,
    g: Tensor,
    o: Tensor,
    shown: Tensor,
) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    dhidden = dlast[0]
    dcell = dhidden * o * (1 - shown**2) + dlast[1]
    dleave = dhidden * shown * o * (1 - o)
    dstart = dcell * f
    dforget = dcell * start * f * (1 - f)
    denter = dcell * g * i * (1 - i)
    dnew = dcell * i * (1 - g**2)
    return dstart, dforget, denter, dnew, dleave
