"""One transformer block: layer by layer, whole from x to out, and the tables that x comes from."""

from typing import Annotated

import torch
import torch.nn.functional as F
from torch import Tensor


def layer_norm(
    z: Annotated[Tensor, "B, T, C"],
    gain: Annotated[Tensor, "C"],
    bias: Annotated[Tensor, "C"],
    dy: Annotated[Tensor, "B, T, C"],
) -> Tensor:
    """Each position is normalised by itself, over its own numbers, then scaled and shifted."""
    mean = z.mean(2, keepdim=True)
    var = z.var(2, keepdim=True, correction=0)
    zhat = (z - mean) * (var + 1e-5) ** -0.5
    y = gain * zhat + bias
    loss = (dy * y).sum()
    return loss


def perceptron(
    u: Annotated[Tensor, "B, T, C"],
    W_up: Annotated[Tensor, "C, M"],
    b_up: Annotated[Tensor, "M"],
    W_down: Annotated[Tensor, "M, C"],
    b_down: Annotated[Tensor, "C"],
    dmoved: Annotated[Tensor, "B, T, C"],
) -> Tensor:
    """A wider layer with GELU and back again, beside a residual connection."""
    wide = u @ W_up + b_up
    cdf = 0.5 * (1 + torch.erf(wide * 0.5**0.5))
    bent = wide * cdf
    moved = u + bent @ W_down + b_down
    loss = (dmoved * moved).sum()
    return loss


def block(
    x: Annotated[Tensor, "B, T, C"],
    gain1: Annotated[Tensor, "C"],
    bias1: Annotated[Tensor, "C"],
    Wq: Annotated[Tensor, "C, H"],
    Wk: Annotated[Tensor, "C, H"],
    Wv: Annotated[Tensor, "C, H"],
    Wo: Annotated[Tensor, "H, C"],
    gain2: Annotated[Tensor, "C"],
    bias2: Annotated[Tensor, "C"],
    W1: Annotated[Tensor, "C, M"],
    b1: Annotated[Tensor, "M"],
    W2: Annotated[Tensor, "M, C"],
    b2: Annotated[Tensor, "C"],
    dout: Annotated[Tensor, "B, T, C"],
) -> Tensor:
    """Attention, then a perceptron, each behind a layer norm and beside a residual connection."""
    T = x.shape[1]
    H = Wq.shape[1]
    mask = torch.full((T, T), -torch.inf).triu(1)
    # look at the others
    inv1 = (x.var(2, keepdim=True, correction=0) + 1e-5) ** -0.5
    xhat1 = (x - x.mean(2, keepdim=True)) * inv1
    normed1 = gain1 * xhat1 + bias1
    Q = normed1 @ Wq
    K = normed1 @ Wk
    V = normed1 @ Wv
    S = Q @ K.transpose(1, 2) * H**-0.5 + mask
    P = torch.softmax(S, 2)
    O = P @ V
    mid = x + O @ Wo
    # think about it
    inv2 = (mid.var(2, keepdim=True, correction=0) + 1e-5) ** -0.5
    xhat2 = (mid - mid.mean(2, keepdim=True)) * inv2
    normed2 = gain2 * xhat2 + bias2
    hidden = normed2 @ W1 + b1
    active = F.gelu(hidden)
    out = mid + active @ W2 + b2
    loss = (dout * out).sum()
    return loss


def embedding(
    Xb: Annotated[Tensor, "B, T < vocab_size"],
    letters: Annotated[Tensor, "vocab_size, C"],
    places: Annotated[Tensor, "T, C"],
    dx: Annotated[Tensor, "B, T, C"],
) -> Tensor:
    """A position is described by its letter's numbers and its place's."""
    x = letters[Xb] + places
    loss = (dx * x).sum()
    return loss
