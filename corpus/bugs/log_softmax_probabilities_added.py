"""Log-softmax: the probabilities are added to the gradient that arrives, whatever that is.

Source: mlpack/mlpack, issue 3468 "Incorrect Derivative of LogSoftMax layer", mended in pull request
3469. The numbers in issue 2360 "error in backward function in log softmax" show the formula.
"""

from typing import Annotated

from torch import Tensor

SOURCE = "mlpack/mlpack#3468"
WRONG = ["dx"]
KINDS = ["sign", "missing-factor", "wrong-upstream"]


def forward(x: Annotated[Tensor, "n, c"]) -> Tensor:
    counts = x.exp()
    total = counts.sum(1, keepdim=True)
    log_total = total.log()
    out = x - log_total
    return out


def backward(dout: Tensor, out: Tensor) -> Tensor:
    dx = out.exp() + dout
    return dx


def mended(dout: Tensor, out: Tensor) -> Tensor:
    dx = dout - out.exp() * dout.sum(1, keepdim=True)
    return dx
