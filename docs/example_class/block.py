from typing import Annotated

import torch
from torch import Tensor


def block(
    x: Annotated[Tensor, "n, d"],
    gain: Annotated[Tensor, "d"],
    bias: Annotated[Tensor, "d"],
    W: Annotated[Tensor, "d, d"],
    b: Annotated[Tensor, "d"],
) -> Tensor:
    """Normalise each row, send it through a layer, and add what came in."""
    mean = x.mean(1, keepdim=True)
    centred = x - mean
    var = (centred**2).mean(1, keepdim=True)
    inv = (var + 1e-5) ** -0.5
    xhat = centred * inv
    normed = gain * xhat + bias
    pre = normed @ W + b
    update = torch.tanh(pre)
    out = x + update
    return out
