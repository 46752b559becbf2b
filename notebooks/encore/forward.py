"""Causal attention with one head: in small steps, and in three lines."""

from typing import Annotated

import torch
from torch import Tensor


def attention(
    x: Annotated[Tensor, "B, T, C"],
    Wq: Annotated[Tensor, "C, H"],
    Wk: Annotated[Tensor, "C, H"],
    Wv: Annotated[Tensor, "C, H"],
    dout: Annotated[Tensor, "B, T, H"],
) -> Tensor:
    """Each position asks the positions up to its own, and collects what they answer."""
    T = x.shape[1]
    H = Wq.shape[1]
    future = torch.ones(T, T).triu(1) == 1
    # every position asks, offers and answers
    q = x @ Wq
    k = x @ Wk
    v = x @ Wv
    # how well each question fits each offer
    products = q @ k.transpose(1, 2)
    scores = products * H**-0.5
    masked = scores.masked_fill(future, -torch.inf)
    # softmax along the last axis
    maxes = masked.max(2, keepdim=True).values
    shifted = masked - maxes
    counts = shifted.exp()
    counts_sum = counts.sum(2, keepdim=True)
    counts_sum_inv = counts_sum**-1
    pattern = counts * counts_sum_inv
    # a weighted sum of the answers
    out = pattern @ v
    loss = (dout * out).sum()
    return loss


def fused_attention(
    Q: Annotated[Tensor, "B, T, H"],
    K: Annotated[Tensor, "B, T, H"],
    V: Annotated[Tensor, "B, T, H"],
    dO: Annotated[Tensor, "B, T, H"],
) -> Tensor:
    """The same from queries, keys and values to the output, in the letters of the papers."""
    T = Q.shape[1]
    H = Q.shape[2]
    mask = torch.full((T, T), -torch.inf).triu(1)
    S = Q @ K.transpose(1, 2) * H**-0.5 + mask
    P = torch.softmax(S, 2)
    O = P @ V
    loss = (dO * O).sum()
    return loss
