"""Distance by a p-norm: the gradient is the difference itself, as if p did not matter.

Source: torch/nn, commit 4be845e "Fixed the bprop in PairwiseDistance for pnorms other than one.":
the sign was right, its message says, the magnitude wrong. Restated for p = 3.
"""

from typing import Annotated

from torch import Tensor

SOURCE = "torch/nn@4be845e"
WRONG = ["dx", "dy"]
KINDS = ["missing-factor", "power-rule"]


def forward(x: Annotated[Tensor, "n, d"], y: Annotated[Tensor, "n, d"]) -> Tensor:
    diff = x - y
    size = diff.abs()
    powers = size**3
    total = powers.sum(1)
    out = total ** (1 / 3)
    return out


def backward(dout: Tensor, diff: Tensor) -> tuple[Tensor, Tensor]:
    dx = diff * dout[:, None]
    dy = -diff * dout[:, None]
    return dx, dy


def mended(dout: Tensor, diff: Tensor, out: Tensor) -> tuple[Tensor, Tensor]:
    slope = diff * diff.abs() * out[:, None] ** -2
    dx = slope * dout[:, None]
    dy = -slope * dout[:, None]
    return dx, dy
