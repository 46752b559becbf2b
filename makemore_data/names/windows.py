"""The lecture's data sets: names shuffled, split, cut into windows."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Generic, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from makemore_data.names.vocabulary import END, LETTERS, build_vocabulary

T = TypeVar("T")

SHUFFLE_SEED = 42

_WORD_BITS = 32
"""The Mersenne Twister hands out words of 32 bits."""

_NOT_IN_VOCABULARY = 255
_INDEX_OF_BYTE = bytes(
    build_vocabulary().stoi.get(chr(byte), _NOT_IN_VOCABULARY) for byte in range(256)
)


class Windows(NamedTuple):
    """What the model sees, and what it is to predict.

    Attributes:
        X: (N, block_size) int64, the characters before; `.` (0) where the name has none yet.
        Y: (N,) int64, the character that follows.
    """

    X: Tensor
    Y: Tensor


class Splits(NamedTuple, Generic[T]):
    """The same kind of thing for training (80 %), development (10 %) and test (10 %)."""

    train: T
    dev: T
    test: T


def build_windows(names: Sequence[str], block_size: int = 3) -> Windows:
    """Every window of `block_size` characters, name after name, as the lecture's loops find them.

    Each name gives one window a letter, and one for the `.` at its end.

    >>> X, Y = build_windows(["ab"])
    >>> X.tolist(), Y.tolist()
    ([[0, 0, 0], [0, 0, 1], [0, 1, 2]], [1, 2, 0])

    Raises:
        ValueError: a name holds a character outside a to z, or `block_size` is below 1.
    """
    if block_size < 1:
        raise ValueError(f"block_size is {block_size}, but a window has at least 1 character.")
    characters = _encode(names)
    contexts = np.empty((len(characters), block_size), dtype=np.int64)
    # Walk back from the character to predict. Whoever meets a `.` sees nothing but `.` from there
    # on: it is the end of the name before.
    inside = np.ones_like(characters, dtype=np.bool_)
    for back in range(1, block_size + 1):
        seen = np.zeros_like(characters)
        seen[back:] = characters[:-back]
        seen *= inside  # faster than np.where, which chooses one by one
        contexts[:, -back] = seen
        inside = seen != 0
    return Windows(torch.from_numpy(contexts), torch.from_numpy(characters.astype(np.int64)))


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
        words = np.frombuffer(generator.randbytes(_WORD_BITS // 8 * count), dtype="<u4")
        for j in (words >> np.uint32(_WORD_BITS - bits)).tolist():
            if j <= i:
                items[i], items[j] = items[j], items[i]
                i -= 1
    return items


def split_names(names: Sequence[str], seed: int = SHUFFLE_SEED) -> Splits[list[str]]:
    """Shuffle the names, then cut them 80/10/10, as the lecture does with seed 42.

    Neither `names` nor Python's global random state changes. Any number of names will do: of few,
    a part may be empty.
    """
    mixed = shuffled(names, seed)
    n1 = int(0.8 * len(mixed))
    n2 = int(0.9 * len(mixed))
    return Splits(mixed[:n1], mixed[n1:n2], mixed[n2:])


def build_splits(
    names: Sequence[str], block_size: int = 3, seed: int = SHUFFLE_SEED
) -> Splits[Windows]:
    """The lecture's three data sets: `(Xtr, Ytr), (Xdev, Ydev), (Xte, Yte)`.

    From the lecture's 32,033 names: 182,625, 22,655 and 22,866 windows. X is int64
    (N, block_size), Y is int64 (N,).

    Raises:
        ValueError: a name holds a character outside a to z, or `block_size` is below 1.
    """
    train, dev, test = split_names(names, seed)
    return Splits(
        build_windows(train, block_size),
        build_windows(dev, block_size),
        build_windows(test, block_size),
    )


def _encode(names: Sequence[str]) -> npt.NDArray[np.uint8]:
    """The index of every character of all names, a 0 after each name: (N,) uint8."""
    text = END.join([*names, ""])
    # Characters outside ASCII become question marks, which are not in the vocabulary either.
    encoded = text.encode("ascii", errors="replace").translate(_INDEX_OF_BYTE)
    indices = np.frombuffer(encoded, dtype=np.uint8)
    ends = len(indices) - np.count_nonzero(indices)
    if ends != len(names) or indices.max(initial=0) == _NOT_IN_VOCABULARY:
        raise ValueError(_complain(names))
    return indices


def _complain(names: Sequence[str]) -> str:
    name, character = next((n, c) for n in names for c in n if c not in LETTERS)
    return f"The name {name!r} holds {character!r}, which is not a letter from a to z."
