"""One minus the cosine of the angle between two vectors, averaged over examples."""

from typing import Annotated

from torch import Tensor


def cosine_similarity_loss(x: Annotated[Tensor, "n, d"], y: Annotated[Tensor, "n, d"]) -> Tensor:
    product = x * y
    dot = product.sum(1)
    square_x = (x**2).sum(1)
    square_y = (y**2).sum(1)
    both = square_x * square_y
    lengths = (both + 1e-8) ** 0.5
    cosine = dot / lengths
    distance = 1 - cosine
    loss = distance.mean()
    return loss
