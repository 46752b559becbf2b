"""L2 norm: a row of zeros makes the gradient 0 / 0.

Source: clab/dynet, issue 1232 "l2_norm() backward fails when the L2 norm is zero". Agreed there:
the gradient should be zero.
"""

from typing import Annotated

import torch
from torch import Tensor

SOURCE = "clab/dynet#1232"
WRONG = ["dx"]
KINDS = ["nan"]


def inputs(generator: torch.Generator, n: int, d: int) -> dict[str, Tensor]:
    x = torch.randn(n, d, generator=generator, dtype=torch.float64)
    x[0] = 0
    return {"x": x}


def forward(x: Annotated[Tensor, "n, d"]) -> Tensor:
    norm = torch.linalg.vector_norm(x, dim=1)
    return norm  # type: ignore[no-any-return]  # torch.linalg has no types


def backward(dnorm: Tensor, x: Tensor, norm: Tensor) -> Tensor:
    dx = dnorm[:, None] * x / norm[:, None]
    return dx


def mended(dnorm: Tensor, x: Tensor, norm: Tensor) -> Tensor:
    safe = torch.where(norm == 0, 1.0, norm)
    dx = dnorm[:, None] * x / safe[:, None]
    return dx
