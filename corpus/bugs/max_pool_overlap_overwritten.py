"""Max pooling with windows that overlap: an entry chosen twice keeps one window's gradient.

Source: FluxML/NNlib.jl, commit d4cbdb3 "fix maxpool gradient": an assignment became an addition.
"""

from typing import Annotated

import torch
from torch import Tensor

SOURCE = "FluxML/NNlib.jl@d4cbdb3"
WRONG = ["dx"]
KINDS = ["not-accumulated", "overwritten-branch"]


def inputs(generator: torch.Generator, n: int, d: int) -> dict[str, Tensor]:
    x = torch.randn(n, 2 * d, generator=generator, dtype=torch.float64)
    x[0, 1] = x[0].max() + 1
    return {"x": x}


def forward(x: Annotated[Tensor, "n, 2 * d"]) -> Tensor:
    windows = x.unfold(1, 2, 1)
    y = windows.amax(2)
    return y


def backward(dy: Tensor, x: Tensor, y: Tensor, n: int) -> Tensor:
    dx = torch.zeros_like(x)
    for row in range(n):
        for start in range(y.shape[1]):
            for column in (start, start + 1):
                if x[row, column] == y[row, start]:
                    dx[row, column] = dy[row, start]
    return dx


def mended(dy: Tensor, x: Tensor, y: Tensor, n: int) -> Tensor:
    dx = torch.zeros_like(x)
    for row in range(n):
        for start in range(y.shape[1]):
            for column in (start, start + 1):
                if x[row, column] == y[row, start]:
                    dx[row, column] += dy[row, start]
    return dx
