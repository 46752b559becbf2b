"""The backward pass of notebook 4 as the lecture writes it."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor


def lecture_backward(
    Xb: Tensor,
    Yb: Tensor,
    C: Tensor,
    W1: Tensor,
    b1: Tensor,
    bngain: Tensor,
    bnbias: Tensor,
    W2: Tensor,
    b2: Tensor,
) -> tuple[Tensor, tuple[Tensor, ...]]:
    """Loss and gradients in the lecture's way: two Python loops visit each place of the windows."""
    n = Xb.shape[0]
    emb = C[Xb]
    embcat = emb.view(n, -1)
    hprebn = embcat @ W1 + b1
    bnmean = hprebn.mean(0, keepdim=True)
    bnvar = hprebn.var(0, keepdim=True, unbiased=True)
    bnvar_inv = (bnvar + 1e-5) ** -0.5
    bnraw = (hprebn - bnmean) * bnvar_inv
    hpreact = bngain * bnraw + bnbias
    h = torch.tanh(hpreact)
    logits = h @ W2 + b2
    loss = F.cross_entropy(logits, Yb)

    dlogits = F.softmax(logits, 1)
    dlogits[range(n), Yb] -= 1
    dlogits /= n
    dh = dlogits @ W2.T
    dW2 = h.T @ dlogits
    db2 = dlogits.sum(0)
    dhpreact = (1.0 - h**2) * dh
    dbngain = (bnraw * dhpreact).sum(0, keepdim=True)
    dbnbias = dhpreact.sum(0, keepdim=True)
    spread = n * dhpreact - dbnbias - n / (n - 1) * bnraw * dbngain
    dhprebn = bngain * bnvar_inv / n * spread
    dembcat = dhprebn @ W1.T
    dW1 = embcat.T @ dhprebn
    db1 = dhprebn.sum(0)
    demb = dembcat.view(emb.shape)
    dC = torch.zeros_like(C)
    for k in range(Xb.shape[0]):
        for j in range(Xb.shape[1]):
            dC[Xb[k, j]] += demb[k, j]
    return loss, (dC, dW1, db1, dbngain, dbnbias, dW2, db2)
