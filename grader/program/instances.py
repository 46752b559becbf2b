"""The sizes and the random values that turn a forward program into an instance."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

HIDDEN_SIZES = (
    (7, 5, 18, 8, 13, 17, 19, 23),
    (33, 4, 29, 11, 67, 41, 43, 47),
)
"""The sizes of the hidden instances, given to a program's size names in order of first mention.

All these sizes differ from one another and from the lecture's 32, 27, 10, 64 and 3, so that a
hard-coded size or a mixed-up axis shows. The first instance has fewer examples than characters.
The second has more, and more of everything than the lecture, but only a little more, because an
answer that loops over its examples spends most of its time there.
"""

LARGE_AND_FEW = (37, 71, 67)
"""The second row, for a program with so few sizes that each of them may be the lecture's 64."""

DIMENSION = re.compile(r"\w+(\s*[*+-]\s*\w+)*")
"""How an axis's length is written: "n", "1", "block_size * n_embd", "length - 2"."""

SPARING = 0
"""The number of the instance in which the largest index does not occur, as in many real batches."""


@dataclass(frozen=True, slots=True, eq=False)
class Instance:
    """A program's sizes, with a value for every name of the program.

    `values` holds the inputs and the steps. Floating-point tensors have dtype `dtype`, and indices
    are int64.
    """

    sizes: Mapping[str, int]
    dtype: torch.dtype
    values: Mapping[str, Any]


def read_shape(annotation: str) -> tuple[list[str], str]:
    """Read an input's annotation: its dimensions, and a bound if its values are indices."""
    dimensions, _, below = annotation.partition("<")
    return [text.strip() for text in dimensions.split(",") if text.strip()], below.strip()


def draw(
    annotation: str,
    sizes: Mapping[str, int],
    generator: torch.Generator,
    dtype: torch.dtype,
    spared: int = 0,
) -> Tensor:
    """Draw an input as its annotation says.

    Matrices are normal with standard deviation 1/sqrt(rows), and everything else is standard
    normal. This keeps the values and gradients of every step within a few orders of magnitude of 1.
    The `spared` largest indices are never drawn.
    """
    dimensions, below = read_shape(annotation)
    lengths = [_length(text, sizes) for text in dimensions]
    if below:
        most = max(1, _length(below, sizes) - spared)
        return torch.randint(most, lengths, generator=generator)
    scale = 1 / math.sqrt(lengths[0]) if len(lengths) > 1 else 1.0
    # Always drawn in float64, so that a seed gives the same values in every dtype.
    values = scale * torch.randn(lengths, generator=generator, dtype=torch.float64)
    return values.to(dtype)


def _length(text: str, sizes: Mapping[str, int]) -> int:
    """Compute the length of an axis from the way it is written."""
    if not DIMENSION.fullmatch(text):
        raise ValueError(f"{text!r} is not a size or number, nor a product or sum of them")
    return int(eval(text, {"__builtins__": {}}, dict(sizes)))
