"""Cross entropy of two softmaxes mixed by a gate for each example."""

from typing import Annotated

import torch
from torch import Tensor


def mixture_of_two_softmaxes(
    logits_a: Annotated[Tensor, "n, c"],
    logits_b: Annotated[Tensor, "n, c"],
    gate: Annotated[Tensor, "n, 1"],
    target: Annotated[Tensor, "n < c"],
) -> Tensor:
    counts_a = logits_a.exp()
    total_a = counts_a.sum(1, keepdim=True)
    probs_a = counts_a / total_a
    counts_b = logits_b.exp()
    total_b = counts_b.sum(1, keepdim=True)
    probs_b = counts_b / total_b
    share = torch.sigmoid(gate)
    from_a = share * probs_a
    rest = 1 - share
    from_b = rest * probs_b
    mixed = from_a + from_b
    picked = mixed.gather(1, target.unsqueeze(1))
    log_picked = picked.log()
    loss = -log_picked.mean()
    return loss
