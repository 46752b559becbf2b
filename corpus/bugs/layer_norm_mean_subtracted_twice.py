"""Layer norm: the gradient's mean is subtracted twice.

Source: tenstorrent/tt-metal, pull request 53215 "[tt-train] Fix layernorm_bw dx double-subtract and
non-L1 nested DST acquire". A product was added to what its register still held.
"""

from typing import Annotated

from torch import Tensor

SOURCE = "tenstorrent/tt-metal#53215"
WRONG = ["dx"]
KINDS = ["constant-factor", "extra-term"]


def forward(
    x: Annotated[Tensor, "n, d"], gamma: Annotated[Tensor, "d"], beta: Annotated[Tensor, "d"]
) -> Tensor:
    mean = x.mean(1, keepdim=True)
    centred = x - mean
    variance = (centred**2).mean(1, keepdim=True)
    rstd = (variance + 1e-5) ** -0.5
    x_hat = centred * rstd
    scaled = gamma * x_hat
    out = scaled + beta
    return out


def backward(
    dout: Tensor, gamma: Tensor, rstd: Tensor, x_hat: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    dx_hat = dout * gamma
    first = dx_hat.mean(1, keepdim=True)
    second = first + x_hat * (dx_hat * x_hat).mean(1, keepdim=True)
    dx = (dx_hat - first - second) * rstd
    dgamma = (dout * x_hat).sum(0)
    dbeta = dout.sum(0)
    return dx, dgamma, dbeta


def mended(
    dout: Tensor, gamma: Tensor, rstd: Tensor, x_hat: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    dx_hat = dout * gamma
    first = dx_hat.mean(1, keepdim=True)
    second = x_hat * (dx_hat * x_hat).mean(1, keepdim=True)
    dx = (dx_hat - first - second) * rstd
    dgamma = (dout * x_hat).sum(0)
    dbeta = dout.sum(0)
    return dx, dgamma, dbeta
