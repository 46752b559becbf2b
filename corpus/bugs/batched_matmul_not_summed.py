"""Batched product with one shared matrix: its gradient is not summed over the batch.

Source: flashlight/flashlight, commit 0c8fa14 "Fix gradient computation for batched matrix multiply
(#760)".
"""

from typing import Annotated

from torch import Tensor

SOURCE = "flashlight/flashlight@0c8fa14"
WRONG = ["dlhs"]
KINDS = ["missing-sum"]


def forward(lhs: Annotated[Tensor, "n, k"], rhs: Annotated[Tensor, "b, k, m"]) -> Tensor:
    out = lhs @ rhs
    return out


def backward(dout: Tensor, lhs: Tensor, rhs: Tensor) -> tuple[Tensor, Tensor]:
    dlhs = dout @ rhs.transpose(1, 2)
    drhs = lhs.T @ dout
    return dlhs, drhs


def mended(dout: Tensor, lhs: Tensor, rhs: Tensor) -> tuple[Tensor, Tensor]:
    dlhs = (dout @ rhs.transpose(1, 2)).sum(0)
    drhs = lhs.T @ dout
    return dlhs, drhs
