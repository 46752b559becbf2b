"""Log-softmax: the sum weighs the gradient by the output, and the probabilities are missing.

Source: uxlfoundation/oneDNN, issue 616 "Backward pass of the logsoftmax primitive seems to be
incorrect", closed as a bug. The issue gives the wrong formula and the right one.
"""

from typing import Annotated

from torch import Tensor

SOURCE = "uxlfoundation/oneDNN#616"
WRONG = ["dsource"]
KINDS = ["brackets", "operator", "wrong-order"]


def forward(source: Annotated[Tensor, "n, c"]) -> Tensor:
    counts = source.exp()
    total = counts.sum(1, keepdim=True)
    log_total = total.log()
    out = source - log_total
    return out


def backward(dout: Tensor, out: Tensor) -> Tensor:
    dsource = dout - (dout * out).sum(1, keepdim=True)
    return dsource


def mended(dout: Tensor, out: Tensor) -> Tensor:
    dsource = dout - out.exp() * dout.sum(1, keepdim=True)
    return dsource
