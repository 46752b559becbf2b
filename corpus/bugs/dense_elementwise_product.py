"""Dense layer: entry-by-entry products where matrix products belong.

Source: apache/tvm, commit 2ec7caa "fix small bug about dense_grad (#5695)". The matrices are square
here, as the shapes would not fit otherwise.
"""

from typing import Annotated

from torch import Tensor

SOURCE = "apache/tvm@2ec7caa"
WRONG = ["ddata", "dweight"]
KINDS = ["operator"]


def forward(data: Annotated[Tensor, "n, n"], weight: Annotated[Tensor, "n, n"]) -> Tensor:
    out = data @ weight.T
    return out


def backward(dout: Tensor, data: Tensor, weight: Tensor) -> tuple[Tensor, Tensor]:
    ddata = dout.T * weight
    dweight = data * dout.T
    return ddata, dweight


def mended(dout: Tensor, data: Tensor, weight: Tensor) -> tuple[Tensor, Tensor]:
    ddata = dout @ weight
    dweight = dout.T @ data
    return ddata, dweight
