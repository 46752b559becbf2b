"""Programs that the course does not contain, as exercises: a forward function is all there is."""

from __future__ import annotations

import math
from typing import Annotated

import torch
import torch.nn.functional as F
from torch import Tensor

from grader.program.exercises import Exercise


def residual_layer_norm(
    x: Annotated[Tensor, "n, n_embd"],
    gain: Annotated[Tensor, "n_embd"],
    bias: Annotated[Tensor, "n_embd"],
    W: Annotated[Tensor, "n_embd, n_embd"],
    b: Annotated[Tensor, "n_embd"],
    dout: Annotated[Tensor, "n, n_embd"],
) -> Tensor:
    """A residual block: layer normalisation, a linear layer, tanh, and x itself once more.

    The variance is the biased one, epsilon is 1e-5 (Ba et al., "Layer normalization", 2016). `dout`
    is the gradient that arrives from the rest of a network.
    """
    mean = x.mean(1, keepdim=True)
    var = x.var(1, unbiased=False, keepdim=True)
    inv = (var + 1e-5) ** -0.5
    xhat = (x - mean) * inv
    normed = gain * xhat + bias
    pre = normed @ W + b
    update = torch.tanh(pre)
    out = x + update
    loss = (dout * out).sum()
    return loss


def rnn_cell(
    Xb: Annotated[Tensor, "n < vocab_size"],
    Yb: Annotated[Tensor, "n < vocab_size"],
    h0: Annotated[Tensor, "n, n_hidden"],
    E: Annotated[Tensor, "vocab_size, n_embd"],
    Wx: Annotated[Tensor, "n_embd, n_hidden"],
    Wh: Annotated[Tensor, "n_hidden, n_hidden"],
    b: Annotated[Tensor, "n_hidden"],
    Wy: Annotated[Tensor, "n_hidden, vocab_size"],
    by: Annotated[Tensor, "vocab_size"],
) -> Tensor:
    """One step of a leaky RNN cell: the next character from this one and the state before.

    The new state is half the old one and half the tanh of both (Elman, "Finding structure in
    time", 1990, with a leak). Returns the mean negative log-likelihood of Yb in nats.
    """
    x = E[Xb]
    pre = x @ Wx + h0 @ Wh + b
    candidate = torch.tanh(pre)
    h1 = 0.5 * h0 + 0.5 * candidate
    logits = h1 @ Wy + by
    loss = F.cross_entropy(logits, Yb)
    return loss


def attention(
    x: Annotated[Tensor, "n, block_size, n_embd"],
    Wq: Annotated[Tensor, "n_embd, head_size"],
    Wk: Annotated[Tensor, "n_embd, head_size"],
    Wv: Annotated[Tensor, "n_embd, head_size"],
    dout: Annotated[Tensor, "n, block_size, head_size"],
) -> Tensor:
    """Single-head causal attention (Vaswani et al., "Attention is all you need", 2017).

    `dout` is the gradient that arrives from the rest of a network.
    """
    block_size = x.shape[1]
    head_size = Wq.shape[1]
    q = x @ Wq
    k = x @ Wk
    v = x @ Wv
    scores = q @ k.transpose(-2, -1) / math.sqrt(head_size)
    future = torch.ones(block_size, block_size, dtype=torch.bool).triu(1)
    masked = scores.masked_fill(future, float("-inf"))
    weights = F.softmax(masked, dim=-1)
    out = weights @ v
    loss = (dout * out).sum()
    return loss


LAYER_NORM = Exercise(
    prefix="layernorm",
    notebook="residual_layer_norm",
    forward=residual_layer_norm,
    gradients=(
        *("dupdate", "dpre", "dW", "db", "dnormed", "dgain", "dbias", "dxhat"),
        *("dinv", "dvar", "dmean", "dx"),
    ),
    sizes={"n": 32, "n_embd": 24},
)

RNN_CELL = Exercise(
    prefix="rnn",
    notebook="rnn_cell",
    forward=rnn_cell,
    gradients=(
        *("dlogits", "dWy", "dby", "dh1", "dcandidate", "dpre", "dWx", "dWh", "db", "dh0"),
        *("dx", "dE"),
    ),
    sizes={"n": 32, "vocab_size": 27, "n_hidden": 64, "n_embd": 10},
)

ATTENTION = Exercise(
    prefix="attention",
    notebook="attention",
    forward=attention,
    gradients=(*("dweights", "dv", "dmasked", "dscores", "dq", "dk", "dWq", "dWk", "dWv", "dx"),),
    sizes={"n": 32, "block_size": 12, "n_embd": 24, "head_size": 10},
)

OTHER_EXERCISES = (LAYER_NORM, RNN_CELL, ATTENTION)
"""None of these stands in `grader.program.exercises`, and nothing in the grader knows of them."""
