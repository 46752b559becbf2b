"""Matrix inverse: neither factor is transposed.

Source: clab/dynet, commit 5a40675 "fix MatrixInverse::backward()".
"""

from typing import Annotated

import torch
from torch import Tensor

SOURCE = "clab/dynet@5a40675"
WRONG = ["dx"]
KINDS = ["transposed"]


def inputs(generator: torch.Generator, n: int) -> dict[str, Tensor]:
    x = torch.randn(n, n, generator=generator, dtype=torch.float64)
    return {"x": x + 2 * n * torch.eye(n, dtype=torch.float64)}


def forward(x: Annotated[Tensor, "n, n"]) -> Tensor:
    y = x.inverse()
    return y


def backward(dy: Tensor, y: Tensor) -> Tensor:
    dx = -(y @ dy @ y)
    return dx


def mended(dy: Tensor, y: Tensor) -> Tensor:
    dx = -(y.T @ dy @ y.T)
    return dx
