from __future__ import annotations

import random
import re
from collections.abc import Sequence

import pytest
import torch
from torch import Tensor

from makemore_data import build_splits, build_vocabulary, build_windows, split_names
from makemore_data.names.vocabulary import LETTERS
from makemore_data.names.windows import shuffled


def build_by_loops(names: Sequence[str], block_size: int) -> tuple[Tensor, Tensor]:
    """Windows as the lecture's nested loops build them."""
    stoi, _ = build_vocabulary()
    X, Y = [], []
    for name in names:
        context = [0] * block_size
        for character in name + ".":
            X.append(context)
            Y.append(stoi[character])
            context = [*context[1:], stoi[character]]
    return torch.tensor(X), torch.tensor(Y)


@pytest.fixture(params=["bundled_names", "real_names"])
def names(request: pytest.FixtureRequest) -> list[str]:
    found: list[str] = request.getfixturevalue(request.param)
    return found


def test_first_hundred_rows_of_each_split_are_those_of_the_lectures_loops(names: list[str]) -> None:
    words = list(names)
    random.Random(42).shuffle(words)
    n1, n2 = int(0.8 * len(words)), int(0.9 * len(words))
    for windows, part in zip(
        build_splits(names), (words[:n1], words[n1:n2], words[n2:]), strict=True
    ):
        X, Y = build_by_loops(part[:100], block_size=3)
        assert torch.equal(windows.X[:100], X[:100])
        assert torch.equal(windows.Y[:100], Y[:100])


def test_the_lectures_counts(real_names: list[str]) -> None:
    parts = split_names(real_names)
    assert [len(part) for part in parts] == [25_626, 3_203, 3_204]
    assert parts.train[:5] == ["yuheng", "diondre", "xavien", "jori", "juanluis"]
    (Xtr, Ytr), (Xdev, Ydev), (Xte, Yte) = build_splits(real_names)
    assert [len(X) for X in (Xtr, Xdev, Xte)] == [182_625, 22_655, 22_866]
    assert [len(Y) for Y in (Ytr, Ydev, Yte)] == [182_625, 22_655, 22_866]


def test_every_row_of_every_split_of_a_block_size(bundled_names: list[str]) -> None:
    for part, windows in zip(
        split_names(bundled_names, seed=7), build_splits(bundled_names, 5, seed=7), strict=True
    ):
        X, Y = build_by_loops(part, block_size=5)
        assert torch.equal(windows.X, X)
        assert torch.equal(windows.Y, Y)


@pytest.mark.parametrize("block_size", [1, 2, 3, 8, 40])
def test_names_of_every_length(block_size: int) -> None:
    chance = random.Random(block_size)
    # Also the empty name, which the lecture's loops turn into one window.
    names = ["".join(chance.choices(LETTERS, k=length % 12)) for length in range(60)]
    X, Y = build_by_loops(names, block_size)
    windows = build_windows(names, block_size)
    assert torch.equal(windows.X, X)
    assert torch.equal(windows.Y, Y)


def test_types_and_shapes() -> None:
    X, Y = build_windows(["emma", "ada"], block_size=3)
    assert (X.dtype, Y.dtype) == (torch.int64, torch.int64)
    assert (X.shape, Y.shape) == ((9, 3), (9,))
    X, Y = build_windows([], block_size=3)
    assert (X.shape, Y.shape) == ((0, 3), (0,))


def test_each_name_is_in_exactly_one_split() -> None:
    names = [f"{a}{b}" for a in LETTERS for b in LETTERS]
    parts = split_names(names)
    assert sorted([*parts.train, *parts.dev, *parts.test]) == names


def test_the_names_and_the_global_random_state_stay_as_they_are() -> None:
    names = ["emma", "olivia", "ava", "isabella", "sophia"]
    state = random.getstate()
    build_splits(names)
    assert names == ["emma", "olivia", "ava", "isabella", "sophia"]
    assert random.getstate() == state


@pytest.mark.parametrize(
    ("names", "block_size", "sentence"),
    [
        (["ada", "josé"], 3, "The name 'josé' holds 'é', which is not a letter from a to z."),
        (["Ada"], 3, "The name 'Ada' holds 'A', which is not a letter from a to z."),
        (["a.b"], 3, "The name 'a.b' holds '.', which is not a letter from a to z."),
        (["what?"], 3, "The name 'what?' holds '?', which is not a letter from a to z."),
        (["ada"], 0, "block_size is 0, but a window has at least 1 character."),
    ],
)
def test_what_cannot_be_cut_is_an_error(names: list[str], block_size: int, sentence: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}$"):
        build_windows(names, block_size)


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
