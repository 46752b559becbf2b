from typing import Annotated

import torch
from torch import Tensor


def attention(
    q: Annotated[Tensor, "n, t, d"],
    k: Annotated[Tensor, "n, t, d"],
    v: Annotated[Tensor, "n, t, d"],
):
    scale = q.shape[-1] ** -0.5
    scores = scale * (q @ k.mT)
    weights = torch.softmax(scores, -1)
    out = weights @ v
    return out


def attention_backward(dout, q, k, v, weights, scale):
    dv = weights.mT @ dout
    dweights = dout @ v.mT
    dscores = weights * (dweights - (weights * dweights).sum(-2, keepdim=True))
    dq = scale * dscores @ k
    dk = scale * dscores.mT @ q
    return dq, dk, dv
