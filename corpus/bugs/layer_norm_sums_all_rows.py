"""Layer norm: the two sums of a row run over all rows of the block.

Source: flagos-ai/FlagGems, pull request 59 "[bugfix] fix error in layer_norm_backward_kernel".
"""

from typing import Annotated

from torch import Tensor

SOURCE = "flagos-ai/FlagGems#59"
WRONG = ["dx"]
KINDS = ["wrong-axis"]


def forward(
    x: Annotated[Tensor, "n, d"], weight: Annotated[Tensor, "d"], bias: Annotated[Tensor, "d"]
) -> Tensor:
    mean = x.mean(1, keepdim=True)
    centred = x - mean
    variance = (centred**2).mean(1, keepdim=True)
    rstd = (variance + 1e-5) ** -0.5
    x_hat = centred * rstd
    scaled = weight * x_hat
    out = scaled + bias
    return out


def backward(
    dout: Tensor, weight: Tensor, rstd: Tensor, x_hat: Tensor, d: int
) -> tuple[Tensor, Tensor, Tensor]:
    dx_hat = dout * weight
    part2 = dx_hat.sum()
    part3 = (dx_hat * x_hat).sum()
    dx = rstd * (dx_hat - (part2 + x_hat * part3) / d)
    dweight = (dout * x_hat).sum(0)
    dbias = dout.sum(0)
    return dx, dweight, dbias


def mended(
    dout: Tensor, weight: Tensor, rstd: Tensor, x_hat: Tensor, d: int
) -> tuple[Tensor, Tensor, Tensor]:
    dx_hat = dout * weight
    part2 = dx_hat.sum(1, keepdim=True)
    part3 = (dx_hat * x_hat).sum(1, keepdim=True)
    dx = rstd * (dx_hat - (part2 + x_hat * part3) / d)
    dweight = (dout * x_hat).sum(0)
    dbias = dout.sum(0)
    return dx, dweight, dbias
