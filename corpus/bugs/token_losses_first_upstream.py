"""Cross entropy with a loss for each token: all are scaled by the first one's upstream.

Source: linkedin/Liger-Kernel, commit 9ac26bb "Fix wrong grad_weight/grad_bias for fused linear
cross entropy with reduction='none' (#1298)".
"""

from typing import Annotated

import torch
from torch import Tensor

SOURCE = "linkedin/Liger-Kernel@9ac26bb"
WRONG = ["dx", "dweight"]
KINDS = ["wrong-index", "wrong-upstream"]


def forward(
    x: Annotated[Tensor, "n, d"],
    weight: Annotated[Tensor, "v, d"],
    target: Annotated[Tensor, "n < v"],
) -> Tensor:
    logits = x @ weight.T
    logp = torch.log_softmax(logits, 1)
    picked = logp.gather(1, target.unsqueeze(1))
    loss = -picked.squeeze(1)
    return loss


def backward(
    dloss: Tensor, x: Tensor, weight: Tensor, target: Tensor, logp: Tensor, v: int
) -> tuple[Tensor, Tensor]:
    error = logp.exp() - torch.nn.functional.one_hot(target, v)
    dx = (error @ weight) * dloss[0]
    dweight = (error.T @ x) * dloss[0]
    return dx, dweight


def mended(
    dloss: Tensor, x: Tensor, weight: Tensor, target: Tensor, logp: Tensor, v: int
) -> tuple[Tensor, Tensor]:
    error = logp.exp() - torch.nn.functional.one_hot(target, v)
    error = error * dloss[:, None]
    dx = error @ weight
    dweight = error.T @ x
    return dx, dweight
