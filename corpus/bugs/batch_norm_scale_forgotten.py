"""Batch norm: the scale multiplies a name that is not used any more.

Source: denizyuret/Knet.jl, issue 288 "Batchnorm backward on cpu doesn't seem to take care about
scales", mended in pull request 289 (merge commit 67fccca).
"""

from typing import Annotated

from torch import Tensor

SOURCE = "denizyuret/Knet.jl#288"
WRONG = ["dvariance", "dmean", "dx"]
KINDS = ["missing-factor"]


def forward(
    x: Annotated[Tensor, "n, d"], g: Annotated[Tensor, "d"], b: Annotated[Tensor, "d"]
) -> Tensor:
    mean = x.mean(0)
    x_mu = x - mean
    variance = (x_mu**2).mean(0)
    ivar = (variance + 1e-5) ** -0.5
    normalised = x_mu * ivar
    scaled = g * normalised
    out = scaled + b
    return out


def backward(dout: Tensor, x_mu: Tensor, ivar: Tensor, n: int) -> tuple[Tensor, Tensor, Tensor]:
    through = dout * ivar
    dg = (x_mu * through).sum(0)
    db = dout.sum(0)
    dvariance = -0.5 * (through * x_mu * ivar**2).sum(0)
    dmean = -through.sum(0) - 2 * dvariance * x_mu.sum(0) / n
    dx = through + dvariance * 2 * x_mu / n + dmean / n
    return dx, dg, db


def mended(
    dout: Tensor, g: Tensor, x_mu: Tensor, ivar: Tensor, n: int
) -> tuple[Tensor, Tensor, Tensor]:
    through = dout * ivar
    dg = (x_mu * through).sum(0)
    db = dout.sum(0)
    through = through * g
    dvariance = -0.5 * (through * x_mu * ivar**2).sum(0)
    dmean = -through.sum(0) - 2 * dvariance * x_mu.sum(0) / n
    dx = through + dvariance * 2 * x_mu / n + dmean / n
    return dx, dg, db
