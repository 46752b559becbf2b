"""Softmax loss over a map: divided by the positions once more, though they are counted already.

Source: apache/mxnet, pull request 2231 "[Op] Add softmax norm option (mimic caffe)": a review
comment on softmax_output-inl.h found it there before the merge.
"""

from typing import Annotated

import torch
from torch import Tensor

SOURCE = "apache/mxnet#2231"
WRONG = ["dx"]
KINDS = ["constant-factor"]


def forward(x: Annotated[Tensor, "n, c, s"], label: Annotated[Tensor, "n, s < c"]) -> Tensor:
    logp = torch.log_softmax(x, 1)
    picked = logp.gather(1, label.unsqueeze(1))
    loss = -picked.mean()
    return loss


def backward(dloss: Tensor, logp: Tensor, label: Tensor, n: int, c: int, s: int) -> Tensor:
    hit = torch.nn.functional.one_hot(label, c).transpose(1, 2)
    dx = dloss * (logp.exp() - hit) / s / (n * s)
    return dx


def mended(dloss: Tensor, logp: Tensor, label: Tensor, n: int, c: int, s: int) -> Tensor:
    hit = torch.nn.functional.one_hot(label, c).transpose(1, 2)
    dx = dloss * (logp.exp() - hit) / (n * s)
    return dx
