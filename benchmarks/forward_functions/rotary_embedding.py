"""Rotary position embedding: pairs of features turned by given angles."""

from typing import Annotated

import torch
from torch import Tensor


def rotary_embedding(
    x: Annotated[Tensor, "n, t, 2 * d"], angle: Annotated[Tensor, "t, d"]
) -> Tensor:
    first = x[:, :, : angle.shape[1]]
    second = x[:, :, angle.shape[1] :]
    cos = angle.cos()
    sin = angle.sin()
    first_cos = first * cos
    first_sin = first * sin
    second_cos = second * cos
    second_sin = second * sin
    turned_first = first_cos - second_sin
    turned_second = second_cos + first_sin
    out = torch.cat([turned_first, turned_second], 2)
    return out
