"""Scaled dot-product attention; a mask of ones and zeros says which positions may be seen."""

import math
from typing import Annotated

import torch
from torch import Tensor


def inputs(generator: torch.Generator, n: int, t: int, d: int, h: int) -> dict[str, Tensor]:
    """Each position sees itself and the positions before it: no row of the mask is empty."""
    return {"mask": torch.ones(t, t, dtype=torch.int64).tril()}


def attention_with_mask(
    q: Annotated[Tensor, "n, t, d"],
    k: Annotated[Tensor, "n, t, d"],
    v: Annotated[Tensor, "n, t, h"],
    mask: Annotated[Tensor, "t, t < 2"],
) -> Tensor:
    scores = q @ k.transpose(1, 2)
    scaled = scores / math.sqrt(q.shape[2])
    masked = scaled.masked_fill(mask == 0, float("-inf"))
    highest = masked.amax(2, keepdim=True)
    shifted = masked - highest
    counts = shifted.exp()
    total = counts.sum(2, keepdim=True)
    weights = counts / total
    out = weights @ v
    return out
