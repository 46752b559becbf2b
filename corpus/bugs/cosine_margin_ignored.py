"""Cosine embedding loss of unlike pairs: pairs below the margin get a gradient too.

Source: torch/nn, pull request 169 "CosineEmbeddingCriterion: zero grads below margin", mended in
commit 0e4bb23.
"""

from typing import Annotated

from torch import Tensor

SOURCE = "torch/nn#169"
WRONG = ["dv1", "dv2"]
KINDS = ["missing-factor"]


def forward(v1: Annotated[Tensor, "n, d"], v2: Annotated[Tensor, "n, d"]) -> Tensor:
    product = v1 * v2
    w1 = product.sum(1, keepdim=True)
    w22 = (v1**2).sum(1, keepdim=True)
    w32 = (v2**2).sum(1, keepdim=True)
    w2 = w22.sqrt()
    w3 = w32.sqrt()
    cosine = w1 / (w2 * w3)
    above = cosine - 0.1
    loss = above.clamp(min=0)
    return loss


def backward(
    dloss: Tensor,
    v1: Tensor,
    v2: Tensor,
    w1: Tensor,
    w22: Tensor,
    w32: Tensor,
    w2: Tensor,
    w3: Tensor,
) -> tuple[Tensor, Tensor]:
    dv1 = dloss * (v2 / (w2 * w3) - w1 / (w22 * w2 * w3) * v1)
    dv2 = dloss * (v1 / (w2 * w3) - w1 / (w32 * w2 * w3) * v2)
    return dv1, dv2


def mended(
    dloss: Tensor,
    v1: Tensor,
    v2: Tensor,
    w1: Tensor,
    w22: Tensor,
    w32: Tensor,
    w2: Tensor,
    w3: Tensor,
    loss: Tensor,
) -> tuple[Tensor, Tensor]:
    counted = dloss * (loss > 0)
    dv1 = counted * (v2 / (w2 * w3) - w1 / (w22 * w2 * w3) * v1)
    dv2 = counted * (v1 / (w2 * w3) - w1 / (w32 * w2 * w3) * v2)
    return dv1, dv2
