"""Softmax: the gradient that arrives is left out of one of the two terms.

Source: apache/tvm, commit a931378 "[WIP] [NNVM] Fix softmax gradient (#1201)".
"""

from typing import Annotated

import torch
from torch import Tensor

SOURCE = "apache/tvm@a931378"
WRONG = ["dx"]
KINDS = ["wrong-upstream", "missing-factor"]


def forward(x: Annotated[Tensor, "n, c"]) -> Tensor:
    output = torch.softmax(x, 1)
    return output


def backward(doutput: Tensor, output: Tensor) -> Tensor:
    total = (doutput * output).sum(1, keepdim=True)
    dx = -(total * output) + output
    return dx


def mended(doutput: Tensor, output: Tensor) -> Tensor:
    total = (doutput * output).sum(1, keepdim=True)
    dx = doutput * output - total * output
    return dx
