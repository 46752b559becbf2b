"""Product with a transposed matrix: that matrix's gradient is the wrong way round.

Source: denizyuret/Knet.jl, commit 1775260 "Fixed bad derivatives for At_mul_B and A_mul_Bt (#456)".
"""

from typing import Annotated

from torch import Tensor

SOURCE = "denizyuret/Knet.jl@1775260"
WRONG = ["db"]
KINDS = ["transposed"]


def forward(a: Annotated[Tensor, "n, d"], b: Annotated[Tensor, "m, d"]) -> Tensor:
    out = a @ b.T
    return out


def backward(dout: Tensor, a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    da = dout @ b
    db = a.T @ dout
    return da, db


def mended(dout: Tensor, a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    da = dout @ b
    db = dout.T @ a
    return da, db
