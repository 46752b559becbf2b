"""Cross entropy with soft targets: the gradient that arrives is left out.

Source: chainer/chainer, commit e60dd3e "SoftTarget: fix issue in backward_gpu".
"""

from typing import Annotated

import torch
from torch import Tensor

SOURCE = "chainer/chainer@e60dd3e"
WRONG = ["dx"]
KINDS = ["wrong-upstream"]


def inputs(generator: torch.Generator, n: int, c: int) -> dict[str, Tensor]:
    scores = torch.randn(n, c, generator=generator, dtype=torch.float64)
    return {"t": torch.softmax(scores, 1)}


def forward(x: Annotated[Tensor, "n, c"], t: Annotated[Tensor, "n, c"]) -> Tensor:
    logp = torch.log_softmax(x, 1)
    weighted = t * logp
    loss = -weighted.sum(1)
    return loss


def backward(dloss: Tensor, t: Tensor, logp: Tensor) -> tuple[Tensor, Tensor]:
    y = logp.exp()
    dx = y - t
    dt = -dloss[:, None] * logp
    return dx, dt


def mended(dloss: Tensor, t: Tensor, logp: Tensor) -> tuple[Tensor, Tensor]:
    y = logp.exp()
    dx = dloss[:, None] * (y - t)
    dt = -dloss[:, None] * logp
    return dx, dt
