"""Convolution of a sequence without padding: windows as rows, then a matrix product."""

from typing import Annotated

from torch import Tensor


def conv1d_by_unfold(
    x: Annotated[Tensor, "n, c, t * w"],
    weight: Annotated[Tensor, "o, c, w"],
    bias: Annotated[Tensor, "o"],
) -> Tensor:
    windows = x.unfold(2, weight.shape[2], 1)
    ordered = windows.permute(0, 2, 1, 3)
    rows = ordered.flatten(2)
    kernel = weight.flatten(1)
    mapped = rows @ kernel.T
    shifted = mapped + bias
    out = shifted.transpose(1, 2)
    return out
