"""The loss over names of different lengths, and a network that leaves their padding out."""

from typing import Annotated

import torch
import torch.nn.functional as F
from torch import Tensor


def names_loss(
    logits: Annotated[Tensor, "B, T, V"],
    Yb: Annotated[Tensor, "B, T < V"],
    lengths: Annotated[Tensor, "B < T"],
) -> Tensor:
    """The cross-entropy in nats a character, over the letters and ends of names alone."""
    T = logits.shape[1]
    seen = (torch.arange(T) <= lengths.unsqueeze(1)).to(logits.dtype)
    log_sums = logits.logsumexp(2, keepdim=True)
    logprobs = logits - log_sums
    picked = logprobs.gather(2, Yb.unsqueeze(2)).squeeze(2)
    kept = picked * seen
    n_seen = seen.sum()
    loss = -kept.sum() / n_seen
    return loss


def packed_network(
    x: Annotated[Tensor, "B, T, C"],
    Wv: Annotated[Tensor, "C, H"],
    pattern: Annotated[Tensor, "B, T, T"],
    W_last: Annotated[Tensor, "H, V"],
    Yb: Annotated[Tensor, "B, T < V"],
    lengths: Annotated[Tensor, "B < T"],
) -> Tensor:
    """Linear layers work on the rows that count; attention, in between, on whole names."""
    B = x.shape[0]
    T = x.shape[1]
    counted = torch.arange(T) <= lengths.unsqueeze(1)
    at = counted.flatten().nonzero().squeeze(1)
    n_rows = counted.sum().to(x.dtype)
    targets = Yb.flatten()[at]
    # pick: only the places that count
    rows = x.flatten(0, 1)[at]
    v = rows @ Wv
    # place: every name as long as the others, for attention
    spread = v.new_zeros(B * T, v.shape[1]).index_copy(0, at, v)
    out = pattern @ spread.view(B, T, v.shape[1])
    # pick again
    heard = out.flatten(0, 1)[at]
    guesses = heard @ W_last
    loss = F.cross_entropy(guesses, targets, reduction="sum") / n_rows
    return loss
