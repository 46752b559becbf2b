"""Batched product with a transposed first operand: both gradients have a transpose too few.

Source: FluxML/NNlib.jl, commit bbdc647 "fix bmm gradient". The matrices are square here, as the
shapes would not fit otherwise.
"""

from typing import Annotated

from torch import Tensor

SOURCE = "FluxML/NNlib.jl@bbdc647"
WRONG = ["da", "db"]
KINDS = ["transposed", "wrong-order"]


def forward(a: Annotated[Tensor, "k, n, n"], b: Annotated[Tensor, "k, n, n"]) -> Tensor:
    turned = a.transpose(1, 2)
    out = turned @ b
    return out


def backward(dout: Tensor, b: Tensor, turned: Tensor) -> tuple[Tensor, Tensor]:
    da = dout @ b.transpose(1, 2)
    db = turned @ dout
    return da, db


def mended(dout: Tensor, b: Tensor, turned: Tensor) -> tuple[Tensor, Tensor]:
    da = b @ dout.transpose(1, 2)
    db = turned.transpose(1, 2) @ dout
    return da, db
