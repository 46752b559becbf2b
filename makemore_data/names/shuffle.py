"""Python's own shuffle with its random numbers drawn in bulk."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TypeVar

import numpy as np

T = TypeVar("T")

WORD_BITS = 32
"""The Mersenne Twister hands out words of 32 bits."""


def shuffled(items: Sequence[T], seed: int) -> list[T]:
    """A new list in the order that `random.seed(seed); random.shuffle(items)` would give.

    `random.shuffle` walks from the last item to the second and swaps each with one at or before
    it, `items[j]` with `0 <= j <= i`. For each `j` it takes the top bits of a random word, as many
    as `i + 1` has, and again until `j <= i`. To ask for the words one by one takes longer than
    everything else in building the data set. Here they come many at a time: as many as there are
    items left for which the number of bits is the same. Each needs at least one word, so none is
    drawn too many, and the words are used in the same order.

    >>> shuffled("emma", seed=42)
    ['m', 'm', 'a', 'e']
    """
    items = list(items)
    generator = random.Random(seed)
    i = len(items) - 1
    while i > 0:
        bits = (i + 1).bit_length()
        last_with_these_bits = max(2 ** (bits - 1) - 1, 1)
        count = i - last_with_these_bits + 1
        words = np.frombuffer(generator.randbytes(WORD_BITS // 8 * count), dtype="<u4")
        for j in (words >> np.uint32(WORD_BITS - bits)).tolist():
            if j <= i:
                items[i], items[j] = items[j], items[i]
                i -= 1
    return items
