"""Max pooling: the input is compared with the output's gradient, not with the output.

Source: FluxML/NNlib.jl, commit 2d9ac54 "Fix copypasta typo in `maxpool` backprop", which closes
issue 133 there.
"""

from typing import Annotated

from torch import Tensor

SOURCE = "FluxML/NNlib.jl@2d9ac54"
WRONG = ["dx"]
KINDS = ["wrong-name", "misrouted-max"]


def forward(x: Annotated[Tensor, "n, d, w"]) -> Tensor:
    y = x.amax(2, keepdim=True)
    return y


def backward(dy: Tensor, x: Tensor) -> Tensor:
    chosen = x == dy
    dx = chosen * dy
    return dx


def mended(dy: Tensor, x: Tensor, y: Tensor) -> Tensor:
    chosen = x == y
    dx = chosen * dy
    return dx
