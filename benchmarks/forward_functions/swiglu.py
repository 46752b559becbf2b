"""A feed-forward layer with a SiLU gate, as in LLaMA."""

from typing import Annotated

import torch
from torch import Tensor


def swiglu(
    x: Annotated[Tensor, "n, d"],
    w_gate: Annotated[Tensor, "d, h"],
    w_up: Annotated[Tensor, "d, h"],
    w_down: Annotated[Tensor, "h, d"],
) -> Tensor:
    gate = x @ w_gate
    up = x @ w_up
    sigmoid = torch.sigmoid(gate)
    silu = gate * sigmoid
    hidden = silu * up
    out = hidden @ w_down
    return out
