"""Forward functions that a course is made of, as an author hands them in."""

from typing import Annotated

from torch import Tensor


def rms_norm(x: Annotated[Tensor, "n, d"], gain: Annotated[Tensor, "d"]) -> Tensor:
    """Divide each row by the root of its mean square, then scale it."""
    ms = (x**2).mean(1, keepdim=True)
    inv = (ms + 1e-5) ** -0.5
    xhat = x * inv
    out = gain * xhat
    return out
