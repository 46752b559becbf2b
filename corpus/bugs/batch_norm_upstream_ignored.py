"""Batch norm with given statistics: the gradient that arrives is never read.

Source: tensorflow/tfjs-core, commit b18c484 "Fix some issues in batchNormalization gradient
(#970)". Its message: dy was not used, and some sums stood before the product.
"""

from typing import Annotated

import torch
from torch import Tensor

SOURCE = "tensorflow/tfjs-core@b18c484"
WRONG = ["dx", "dmean", "dvariance", "dscale", "doffset"]
KINDS = ["wrong-upstream"]


def inputs(generator: torch.Generator, n: int, d: int) -> dict[str, Tensor]:
    return {"variance": torch.rand(d, generator=generator, dtype=torch.float64) + 0.5}


def forward(
    x: Annotated[Tensor, "n, d"],
    mean: Annotated[Tensor, "d"],
    variance: Annotated[Tensor, "d"],
    scale: Annotated[Tensor, "d"],
    offset: Annotated[Tensor, "d"],
) -> Tensor:
    centred = x - mean
    inv_std = (variance + 1e-3) ** -0.5
    normalised = centred * inv_std
    scaled = normalised * scale
    out = scaled + offset
    return out


def backward(
    scale: Tensor, centred: Tensor, inv_std: Tensor, n: int, d: int
) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    dx = (inv_std * scale).expand(n, d)
    dmean = inv_std * -n * scale
    dvariance = -0.5 * inv_std**3 * centred.sum(0) * scale
    dscale = centred.sum(0) * inv_std
    doffset = torch.ones_like(scale) * n
    return dx, dmean, dvariance, dscale, doffset


def mended(
    dout: Tensor, scale: Tensor, centred: Tensor, inv_std: Tensor
) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    dx = dout * inv_std * scale
    dmean = (-inv_std * dout * scale).sum(0)
    dvariance = (-0.5 * inv_std**3 * centred * dout * scale).sum(0)
    dscale = (dout * centred * inv_std).sum(0)
    doffset = dout.sum(0)
    return dx, dmean, dvariance, dscale, doffset
