"""Softmax regression: one sum over examples and classes is used for every bias.

Source: rasbt/stat453-deep-learning-ss21, issue 5 "Small error in bias-computation in
L08/code/softmax-regression_scratch.ipynb". The issue gives the wrong line and the right one.
"""

from typing import Annotated

import torch
from torch import Tensor

SOURCE = "rasbt/stat453-deep-learning-ss21#5"
WRONG = ["db"]
KINDS = ["wrong-axis", "wrong-shape"]


def forward(
    x: Annotated[Tensor, "n, d"],
    w: Annotated[Tensor, "c, d"],
    b: Annotated[Tensor, "c"],
    y: Annotated[Tensor, "n < c"],
) -> Tensor:
    scores = x @ w.T
    logits = scores + b
    logp = torch.log_softmax(logits, 1)
    picked = logp.gather(1, y.unsqueeze(1))
    loss = -picked.sum()
    return loss


def backward(
    dloss: Tensor, x: Tensor, w: Tensor, y: Tensor, logp: Tensor, c: int
) -> tuple[Tensor, Tensor, Tensor]:
    error = torch.nn.functional.one_hot(y, c) - logp.exp()
    dx = -dloss * error @ w
    dw = -dloss * (x.T @ error).T
    db = -dloss * error.sum()
    return dx, dw, db


def mended(
    dloss: Tensor, x: Tensor, w: Tensor, y: Tensor, logp: Tensor, c: int
) -> tuple[Tensor, Tensor, Tensor]:
    error = torch.nn.functional.one_hot(y, c) - logp.exp()
    dx = -dloss * error @ w
    dw = -dloss * (x.T @ error).T
    db = -dloss * error.sum(0)
    return dx, dw, db
