"""Repetition of rows: the backward pass sums the rows too, not only their copies.

Source: tracel-ai/burn, commit e7aed0d "Fix repeat_dim backward w/ dim size > 1 (#2777)". The same
mistake: HIPS/autograd, commit 72a6ccc "Fixed bug in gradient of np.repeat()".
"""

from typing import Annotated

from torch import Tensor

SOURCE = "tracel-ai/burn@e7aed0d"
WRONG = ["dx"]
KINDS = ["wrong-axis", "wrong-shape"]


def forward(x: Annotated[Tensor, "n, d"]) -> Tensor:
    out = x.repeat(3, 1)
    return out


def backward(dout: Tensor) -> Tensor:
    dx = dout.sum(0, keepdim=True)
    return dx


def mended(dout: Tensor, n: int, d: int) -> Tensor:
    dx = dout.view(3, n, d).sum(0)
    return dx
