"""Group normalisation of channels, with a gain and a bias for each channel."""

from typing import Annotated

from torch import Tensor


def group_norm(
    x: Annotated[Tensor, "n, g * c, s"],
    gain: Annotated[Tensor, "g, c, 1"],
    bias: Annotated[Tensor, "g, c, 1"],
) -> Tensor:
    grouped = x.reshape(x.shape[0], gain.shape[0], gain.shape[1], x.shape[2])
    mean = grouped.mean((2, 3), keepdim=True)
    centred = grouped - mean
    square = centred**2
    variance = square.mean((2, 3), keepdim=True)
    inv_std = (variance + 1e-5) ** -0.5
    normed = centred * inv_std
    scaled = gain * normed
    shifted = scaled + bias
    out = shifted.flatten(1, 2)
    return out
