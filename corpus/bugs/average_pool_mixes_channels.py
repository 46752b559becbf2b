"""Average pooling: the kernel of ones joins every channel with every other.

Source: facebookresearch/CrypTen, commit f0e9afe "Fix pooling gradients (#158)". A comment in the
old code knew: right for one channel, wrong otherwise.
"""

from typing import Annotated

import torch
from torch import Tensor

SOURCE = "facebookresearch/CrypTen@f0e9afe"
WRONG = ["dx"]
KINDS = ["wrong-axis", "extra-term"]


def forward(x: Annotated[Tensor, "n, c, d, w"]) -> Tensor:
    out = x.mean(3)
    return out


def backward(dout: Tensor, c: int, w: int) -> Tensor:
    kernel = torch.ones(c, c, w, dtype=dout.dtype) / w
    dx = torch.einsum("nod,ocw->ncdw", dout, kernel)
    return dx


def mended(dout: Tensor, c: int, w: int) -> Tensor:
    kernel = torch.ones(c, w, dtype=dout.dtype) / w
    dx = torch.einsum("ncd,cw->ncdw", dout, kernel)
    return dx
