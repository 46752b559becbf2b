"""Maximum of two tensors: the second one's share is subtracted where it should be added.

Source: huggingface/candle, commit d70cffd "Fix the minimum/maximum gradient computations. (#534)",
which also shares the gradient between equals; only the sign is restated here.
"""

from typing import Annotated

import torch
from torch import Tensor

SOURCE = "huggingface/candle@d70cffd"
WRONG = ["drhs"]
KINDS = ["sign"]


def forward(lhs: Annotated[Tensor, "n, d"], rhs: Annotated[Tensor, "n, d"]) -> Tensor:
    out = torch.maximum(lhs, rhs)
    return out


def backward(dout: Tensor, lhs: Tensor, rhs: Tensor, out: Tensor) -> tuple[Tensor, Tensor]:
    dlhs = torch.zeros_like(lhs) + (out == lhs) * dout
    drhs = torch.zeros_like(rhs) - (out == rhs) * dout
    return dlhs, drhs


def mended(dout: Tensor, lhs: Tensor, rhs: Tensor, out: Tensor) -> tuple[Tensor, Tensor]:
    dlhs = torch.zeros_like(lhs) + (out == lhs) * dout
    drhs = torch.zeros_like(rhs) + (out == rhs) * dout
    return dlhs, drhs
