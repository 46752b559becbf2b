"""Log density of a Gaussian: the covariance's gradient has the wrong sign.

Source: HIPS/autograd, pull request 412 "Fix vjp for multivariate normal covariance", which resolves
issue 401, mended in commit fec14ad.
"""

from typing import Annotated

import torch
from torch import Tensor

SOURCE = "HIPS/autograd#412"
WRONG = ["dcov"]
KINDS = ["sign"]


def inputs(generator: torch.Generator, n: int, d: int) -> dict[str, Tensor]:
    root = torch.randn(d, d, generator=generator, dtype=torch.float64)
    return {"cov": root @ root.T + torch.eye(d, dtype=torch.float64)}


def forward(
    x: Annotated[Tensor, "n, d"], mean: Annotated[Tensor, "d"], cov: Annotated[Tensor, "d, d"]
) -> Tensor:
    centred = x - mean
    precision = cov.inverse()
    solved = centred @ precision
    product = solved * centred
    distance = product.sum(1)
    spread = torch.logdet(cov)
    twice = distance + spread
    logpdf = -0.5 * twice
    return logpdf


def backward(dlogpdf: Tensor, precision: Tensor, solved: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    outer = solved[:, :, None] * solved[:, None, :]
    dx = -dlogpdf[:, None] * solved
    dmean = (dlogpdf[:, None] * solved).sum(0)
    dcov = -(dlogpdf[:, None, None] * 0.5 * (outer - precision)).sum(0)
    return dx, dmean, dcov


def mended(dlogpdf: Tensor, precision: Tensor, solved: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    outer = solved[:, :, None] * solved[:, None, :]
    dx = -dlogpdf[:, None] * solved
    dmean = (dlogpdf[:, None] * solved).sum(0)
    dcov = (dlogpdf[:, None, None] * 0.5 * (outer - precision)).sum(0)
    return dx, dmean, dcov
