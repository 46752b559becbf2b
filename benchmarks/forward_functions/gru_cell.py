"""One step of a gated recurrent unit."""

from typing import Annotated

import torch
from torch import Tensor


def gru_cell(
    x: Annotated[Tensor, "n, d"],
    h: Annotated[Tensor, "n, k"],
    w_reset: Annotated[Tensor, "d, k"],
    u_reset: Annotated[Tensor, "k, k"],
    b_reset: Annotated[Tensor, "k"],
    w_update: Annotated[Tensor, "d, k"],
    u_update: Annotated[Tensor, "k, k"],
    b_update: Annotated[Tensor, "k"],
    w_new: Annotated[Tensor, "d, k"],
    u_new: Annotated[Tensor, "k, k"],
    b_new: Annotated[Tensor, "k"],
) -> Tensor:
    reset_x = x @ w_reset
    reset_h = h @ u_reset
    reset_sum = reset_x + reset_h
    reset_in = reset_sum + b_reset
    reset = torch.sigmoid(reset_in)
    update_x = x @ w_update
    update_h = h @ u_update
    update_sum = update_x + update_h
    update_in = update_sum + b_update
    update = torch.sigmoid(update_in)
    new_x = x @ w_new
    new_h = h @ u_new
    gated = reset * new_h
    new_sum = new_x + gated
    new_in = new_sum + b_new
    new = torch.tanh(new_in)
    change = h - new
    kept = update * change
    h_next = new + kept
    return h_next
