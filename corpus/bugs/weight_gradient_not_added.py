"""Norm weight used for two batches: the second gradient is stored over the first.

Source: karpathy/llm.c, pull request 408 "Layernorm backward updates", mended in commit dd8c9f5 "fix
layernorm backward: accumulate weight gradient".
"""

from typing import Annotated

from torch import Tensor

SOURCE = "karpathy/llm.c#408"
WRONG = ["dweight"]
KINDS = ["overwritten-branch", "missing-branch"]


def forward(
    first: Annotated[Tensor, "n, d"],
    second: Annotated[Tensor, "n, d"],
    weight: Annotated[Tensor, "d"],
) -> Tensor:
    scaled_first = first * weight
    scaled_second = second * weight
    out = scaled_first + scaled_second
    return out


def backward(
    dout: Tensor, first: Tensor, second: Tensor, weight: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    dfirst = dout * weight
    dweight = (dout * first).sum(0)
    dsecond = dout * weight
    dweight = (dout * second).sum(0)
    return dfirst, dsecond, dweight


def mended(
    dout: Tensor, first: Tensor, second: Tensor, weight: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    dfirst = dout * weight
    dweight = (dout * first).sum(0)
    dsecond = dout * weight
    dweight = dweight + (dout * second).sum(0)
    return dfirst, dsecond, dweight
