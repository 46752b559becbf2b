"""Softmax: only the diagonal of its Jacobian is used.

Source: wkcn/mobula, issue 3 "[Bug] The backward propagation of Softmax is wrong", mended in commit
4eec938. The same mistake: deeplearning4j/libnd4j, issue 440 "Softmax derivative implementation
incorrect".
"""

from typing import Annotated

from torch import Tensor

SOURCE = "wkcn/mobula#3"
WRONG = ["dx"]
KINDS = ["missing-branch", "missing-sum"]


def forward(x: Annotated[Tensor, "n, c"]) -> Tensor:
    counts = x.exp()
    total = counts.sum(1, keepdim=True)
    y = counts / total
    return y


def backward(dy: Tensor, y: Tensor) -> Tensor:
    dx = dy * (y - y**2)
    return dx


def mended(dy: Tensor, y: Tensor) -> Tensor:
    dx = y * (dy - (dy * y).sum(1, keepdim=True))
    return dx
