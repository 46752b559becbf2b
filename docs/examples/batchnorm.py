from typing import Annotated

from torch import Tensor


def batchnorm(
    x: Annotated[Tensor, "n, d"], gain: Annotated[Tensor, "d"], bias: Annotated[Tensor, "d"]
):
    mean = x.mean(0)
    centred = x - mean
    var = x.var(0)
    inv = (var + 1e-5) ** -0.5
    xhat = centred * inv
    out = gain * xhat + bias
    return out


def batchnorm_backward(dout, gain, inv, xhat, n):
    dgain = (dout * xhat).sum(0)
    dbias = dout.sum(0)
    dx = gain * inv / n * (n * dout - dout.sum(0) - xhat * (dout * xhat).sum(0))
    return dx, dgain, dbias
