"""Additive angular margin: the label's entry forgets the gradient that arrives.

Source: xialuxi/arcface-caffe, issue 19 "CosinAddmBackward", mended in commit f4a1fd4. The forward
pass's branch for large angles is left out here.
"""

from typing import Annotated

import torch
from torch import Tensor

SOURCE = "xialuxi/arcface-caffe#19"
WRONG = ["dcosine"]
KINDS = ["wrong-upstream", "missing-factor"]


def inputs(generator: torch.Generator, n: int, c: int) -> dict[str, Tensor]:
    return {"cosine": torch.rand(n, c, generator=generator, dtype=torch.float64) * 1.8 - 0.9}


def forward(cosine: Annotated[Tensor, "n, c"], label: Annotated[Tensor, "n < c"]) -> Tensor:
    picked = cosine.gather(1, label.unsqueeze(1))
    sine = (1 - picked**2).sqrt()
    shifted = 0.8 * picked - 0.6 * sine
    out = cosine.scatter(1, label.unsqueeze(1), shifted)
    return out


def backward(dout: Tensor, label: Tensor, picked: Tensor, sine: Tensor) -> Tensor:
    slope = 0.8 + 0.6 * picked / sine
    dcosine = dout.scatter(1, label.unsqueeze(1), slope)
    return dcosine


def mended(dout: Tensor, label: Tensor, picked: Tensor, sine: Tensor) -> Tensor:
    slope = 0.8 + 0.6 * picked / sine
    here = dout.gather(1, label.unsqueeze(1))
    dcosine = dout.scatter(1, label.unsqueeze(1), here * slope)
    return dcosine
