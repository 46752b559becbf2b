"""Exact GELU: the square in the density multiplies every entry by the first one.

Source: neoml-lib/neoml, pull request 787 "Fix GELU backward", mended in commit b8171be: a product
with one number was called instead of the product entry by entry.
"""

import math
from typing import Annotated

import torch
from torch import Tensor

SOURCE = "neoml-lib/neoml#787"
WRONG = ["dx"]
KINDS = ["wrong-index", "wrong-name"]


def forward(x: Annotated[Tensor, "n, d"]) -> Tensor:
    narrow = x / math.sqrt(2)
    error = torch.erf(narrow)
    cdf = 0.5 * (1 + error)
    out = x * cdf
    return out


def backward(dout: Tensor, x: Tensor, narrow: Tensor, cdf: Tensor) -> Tensor:
    density = (-(narrow * narrow[0, 0])).exp() / math.sqrt(2 * math.pi)
    dx = dout * (cdf + x * density)
    return dx


def mended(dout: Tensor, x: Tensor, narrow: Tensor, cdf: Tensor) -> Tensor:
    density = (-(narrow * narrow)).exp() / math.sqrt(2 * math.pi)
    dx = dout * (cdf + x * density)
    return dx
