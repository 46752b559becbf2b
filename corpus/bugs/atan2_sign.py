"""Arc tangent of a quotient: the two operands were mixed up, so both signs are wrong.

Source: jax-ml/jax, commit dfd3d93 "Fix bug in order of y,x in grad of atan2."
"""

from typing import Annotated

import torch
from torch import Tensor

SOURCE = "jax-ml/jax@dfd3d93"
WRONG = ["dx", "dy"]
KINDS = ["sign"]


def forward(x: Annotated[Tensor, "n, d"], y: Annotated[Tensor, "n, d"]) -> Tensor:
    angle = torch.atan2(x, y)
    return angle


def backward(dangle: Tensor, x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    dx = -(dangle * y) / (x**2 + y**2)
    dy = (dangle * x) / (x**2 + y**2)
    return dx, dy


def mended(dangle: Tensor, x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    dx = dangle * y / (x**2 + y**2)
    dy = dangle * -x / (x**2 + y**2)
    return dx, dy
