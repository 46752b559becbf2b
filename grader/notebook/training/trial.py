"""A trial: a function of a student's, run on small data made for the purpose."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from makemore_data.training.train import ALL_STEPS

Part = Callable[..., Any]
Trial = Callable[[Part], str]
"""Runs a function of a student's; what is wrong with it as a sentence, or ""."""

N_HIDDEN, BLOCK_SIZE, WINDOWS = 7, 3, 150
HALF = ALL_STEPS // 2
"""The step at which the learning rate falls."""
MOST_CALLS = 300
"""So often a part may ask for gradients or predictions; it needs a few."""
TOLERANCE = 1e-4
"""Of the largest number of a tensor: how far a float32 result may be off."""


class Endless(BaseException):
    """Raised in a part that does not end, which no `except Exception` stops; says why."""


def is_close(value: object, expected: Tensor | float, noise: float = 0.0) -> bool:
    """True for finite numbers of the same shape that are the same up to rounding.

    Args:
        value: what was found.
        expected: what is due.
        noise: how far off a number may be that is zero but for rounding.
    """
    try:
        found = torch.as_tensor(value, dtype=torch.float64)
    except (TypeError, ValueError, RuntimeError):  # it is no number, nor a tensor of numbers
        return False
    wanted = torch.as_tensor(expected, dtype=torch.float64)
    allowed = max(TOLERANCE * float(wanted.abs().max()), noise)
    # NaN is not close to anything.
    return found.shape == wanted.shape and float((found - wanted).abs().max()) <= allowed
