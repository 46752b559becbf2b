"""Standardising with an eps outside the root: two slopes take the wrong one of the two deviations.

Source: chainer/chainer, commits 06fee73 "fix backward of `_standardize`" and fb8efb0 "fix using
`var` without eps to with eps.", which mended one slope each.
"""

from typing import Annotated

from torch import Tensor

SOURCE = "chainer/chainer@06fee73"
WRONG = ["dstd", "dvar"]
CARRIED = ["dx"]
KINDS = ["missing-eps", "wrong-name"]


def forward(x: Annotated[Tensor, "n, d"]) -> Tensor:
    mu = x.mean(1, keepdim=True)
    x_mu = x - mu
    var = (x_mu**2).mean(1, keepdim=True)
    std_noeps = var.sqrt()
    std = std_noeps + 0.05
    x_hat = x_mu / std
    return x_hat


def backward(dx_hat: Tensor, x_mu: Tensor, var: Tensor, std: Tensor, d: int) -> Tensor:
    inv_std = 1 / std
    slope = (dx_hat * x_mu).sum(1, keepdim=True)
    dstd = slope * (-1 / var)
    dvar = dstd * 0.5 * inv_std
    dx_mu = dx_hat * inv_std + dvar * 2 * x_mu / d
    dmu = -dx_mu.sum(1, keepdim=True)
    dx = dx_mu + dmu / d
    return dx


def mended(dx_hat: Tensor, x_mu: Tensor, std_noeps: Tensor, std: Tensor, d: int) -> Tensor:
    inv_std = 1 / std
    slope = (dx_hat * x_mu).sum(1, keepdim=True)
    dstd = slope * (-1 / std**2)
    dvar = dstd * 0.5 / std_noeps
    dx_mu = dx_hat * inv_std + dvar * 2 * x_mu / d
    dmu = -dx_mu.sum(1, keepdim=True)
    dx = dx_mu + dmu / d
    return dx
