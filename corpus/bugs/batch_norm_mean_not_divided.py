"""Batch norm: what flows back through the mean is not divided by the number of examples.

Source: mlpack/mlpack, issue 1923 "Backward() implemented incorrectly in BatchNorm Layer.", mended
in pull request 1930. The sum without its division is seen in the lines that pull request 1327
added, the same sum with it in the lines that pull request 2474 replaced.
"""

from typing import Annotated

from torch import Tensor

SOURCE = "mlpack/mlpack#1923"
WRONG = ["dx"]
KINDS = ["sum-for-mean", "constant-factor"]


def forward(
    x: Annotated[Tensor, "n, d"], gamma: Annotated[Tensor, "d"], beta: Annotated[Tensor, "d"]
) -> Tensor:
    mean = x.mean(0)
    centred = x - mean
    variance = (centred**2).mean(0)
    std_inv = (variance + 1e-5) ** -0.5
    normalised = centred * std_inv
    scaled = gamma * normalised
    out = scaled + beta
    return out


def backward(
    dout: Tensor, gamma: Tensor, centred: Tensor, std_inv: Tensor, normalised: Tensor, n: int
) -> tuple[Tensor, Tensor, Tensor]:
    dnormalised = dout * gamma
    dvariance = (dnormalised * centred).sum(0) * std_inv**3 * -0.5
    dx = dnormalised * std_inv + centred * dvariance * 2 / n
    dx = dx + (dnormalised * -std_inv).sum(0) + dvariance * (-2 * centred).mean(0) / n
    dgamma = (dout * normalised).sum(0)
    dbeta = dout.sum(0)
    return dx, dgamma, dbeta


def mended(
    dout: Tensor, gamma: Tensor, centred: Tensor, std_inv: Tensor, normalised: Tensor, n: int
) -> tuple[Tensor, Tensor, Tensor]:
    dnormalised = dout * gamma
    dvariance = (dnormalised * centred).sum(0) * std_inv**3 * -0.5
    dx = dnormalised * std_inv + centred * dvariance * 2 / n
    dx = dx + (dnormalised * -std_inv).sum(0) / n
    dgamma = (dout * normalised).sum(0)
    dbeta = dout.sum(0)
    return dx, dgamma, dbeta
