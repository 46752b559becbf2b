"""Addition of a row: the gradient is averaged over the examples where it should be summed.

Source: tensorflow/tfjs-core, pull request 398 "Correct backprop for add operation with broadcast",
mended in commit b4d488a.
"""

from typing import Annotated

from torch import Tensor

SOURCE = "tensorflow/tfjs-core#398"
WRONG = ["drow"]
KINDS = ["mean-for-sum"]


def forward(x: Annotated[Tensor, "n, d"], row: Annotated[Tensor, "d"]) -> Tensor:
    out = x + row
    return out


def backward(dout: Tensor, n: int) -> tuple[Tensor, Tensor]:
    dx = dout.clone()
    drow = dout.sum(0) / n
    return dx, drow


def mended(dout: Tensor) -> tuple[Tensor, Tensor]:
    dx = dout.clone()
    drow = dout.sum(0)
    return dx, drow
