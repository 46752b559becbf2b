from __future__ import annotations

import random

import pytest

from makemore_data.names.shuffle import shuffled


@pytest.mark.parametrize("seed", [0, 42, 2147483647])
def test_the_order_is_that_of_random_shuffle(seed: int) -> None:
    # Every length around the powers of two, where the number of random bits changes.
    for length in [*range(140), 255, 256, 257, 4095, 4096, 4097, 32_033]:
        expected = list(range(length))
        random.Random(seed).shuffle(expected)
        assert shuffled(range(length), seed) == expected, f"{length} items"


def test_neither_the_items_nor_the_global_random_state_change() -> None:
    items = list(range(100))
    state = random.getstate()
    assert shuffled(items, 42) != items
    assert items == list(range(100))
    assert random.getstate() == state
