"""Convolution: weight and bias gradients are averaged over the examples, though the loss is a sum.

Source: wkcn/mobula, issue 1 "[bug] The bias in FullyConnected, Convolution and Transposed
Convolution", mended in commit ee95cdd. There the bias also had an entry for each position.
"""

from typing import Annotated

import torch
from torch import Tensor

SOURCE = "wkcn/mobula#1"
WRONG = ["dweight", "dbias"]
KINDS = ["mean-for-sum", "constant-factor"]


def forward(
    columns: Annotated[Tensor, "n, d, w"],
    weight: Annotated[Tensor, "w, o"],
    bias: Annotated[Tensor, "d, o"],
) -> Tensor:
    mapped = columns @ weight
    y = mapped + bias
    return y


def backward(dy: Tensor, columns: Tensor, weight: Tensor, n: int) -> tuple[Tensor, Tensor, Tensor]:
    dcolumns = dy @ weight.T
    dweight = torch.tensordot(columns, dy, dims=([0, 1], [0, 1])) / n
    dbias = dy.mean(0)
    return dcolumns, dweight, dbias


def mended(dy: Tensor, columns: Tensor, weight: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    dcolumns = dy @ weight.T
    dweight = torch.tensordot(columns, dy, dims=([0, 1], [0, 1]))
    dbias = dy.sum(0)
    return dcolumns, dweight, dbias
