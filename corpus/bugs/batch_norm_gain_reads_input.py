"""Batch norm: the gain's gradient reads the input where it should read the centred input.

Source: facebookresearch/CrypTen, commit d5feee1 "Fix batch norm backward gradients and 1D support
(#151)". Only the gain's mistake is restated here.
"""

from typing import Annotated

from torch import Tensor

SOURCE = "facebookresearch/CrypTen@d5feee1"
WRONG = ["dweight"]
KINDS = ["wrong-name", "missing-branch"]


def forward(
    x: Annotated[Tensor, "n, d"], weight: Annotated[Tensor, "d"], bias: Annotated[Tensor, "d"]
) -> Tensor:
    mean = x.mean(0)
    centred = x - mean
    variance = (centred**2).mean(0)
    inv_std = (variance + 1e-5) ** -0.5
    x_norm = centred * inv_std
    scaled = x_norm * weight
    out = scaled + bias
    return out


def backward(
    dout: Tensor, x: Tensor, weight: Tensor, inv_std: Tensor, x_norm: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    dx_norm = dout * weight
    dx = inv_std * (dx_norm - dx_norm.mean(0) - x_norm * (dx_norm * x_norm).mean(0))
    dweight = (dout * x * inv_std).sum(0)
    dbias = dout.sum(0)
    return dx, dweight, dbias


def mended(
    dout: Tensor, weight: Tensor, inv_std: Tensor, x_norm: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    dx_norm = dout * weight
    dx = inv_std * (dx_norm - dx_norm.mean(0) - x_norm * (dx_norm * x_norm).mean(0))
    dweight = (dout * x_norm).sum(0)
    dbias = dout.sum(0)
    return dx, dweight, dbias
