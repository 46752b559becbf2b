"""Subtraction: the second operand's gradient keeps its sign.

Source: KhawajaAbaid/micrograd_c, issue 1 "backward_subtract computes incorrect gradient for second
value", mended in commit 1f7a98d. The same mistake: neoml-lib/neoml, commit 732fcdb "Fix
CEltwiseSubLayer::BackwardOnce".
"""

from typing import Annotated

from torch import Tensor

SOURCE = "KhawajaAbaid/micrograd_c#1"
WRONG = ["db"]
KINDS = ["sign"]


def forward(a: Annotated[Tensor, "n, d"], b: Annotated[Tensor, "n, d"]) -> Tensor:
    out = a - b
    return out


def backward(dout: Tensor) -> tuple[Tensor, Tensor]:
    da = dout.clone()
    db = dout.clone()
    return da, db


def mended(dout: Tensor) -> tuple[Tensor, Tensor]:
    da = dout.clone()
    db = -dout
    return da, db
