"""Addition to chosen rows: the gradient of what was added is scattered again, not picked.

Source: tracel-ai/burn, commit a6e3b4e "Fix select assign backward (#1739)".
"""

from typing import Annotated

import torch
from torch import Tensor

SOURCE = "tracel-ai/burn@a6e3b4e"
WRONG = ["dvalues"]
KINDS = ["wrong-index", "permuted"]


def inputs(generator: torch.Generator, n: int, d: int) -> dict[str, Tensor]:
    return {"index": torch.arange(n) // 2}


def forward(
    x: Annotated[Tensor, "n, d"],
    values: Annotated[Tensor, "n, d"],
    index: Annotated[Tensor, "n < n"],
) -> Tensor:
    out = x.index_add(0, index, values)
    return out


def backward(dout: Tensor, values: Tensor, index: Tensor) -> tuple[Tensor, Tensor]:
    dx = dout.clone()
    dvalues = torch.zeros_like(values).index_add(0, index, dout)
    return dx, dvalues


def mended(dout: Tensor, index: Tensor) -> tuple[Tensor, Tensor]:
    dx = dout.clone()
    dvalues = dout[index]
    return dx, dvalues
