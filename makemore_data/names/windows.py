"""Names cut into windows of characters with the character that follows each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from makemore_data.names.shuffle import shuffled
from makemore_data.names.vocabulary import END, LETTERS, build_vocabulary

SHUFFLE_SEED = 42

T = TypeVar("T")

_NOT_IN_VOCABULARY = 255


def _index_of_each_byte() -> bytes:
    table = bytearray([_NOT_IN_VOCABULARY]) * 256
    for character, index in build_vocabulary().stoi.items():
        table[ord(character)] = index
    return bytes(table)


_INDEX_OF_BYTE = _index_of_each_byte()


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
