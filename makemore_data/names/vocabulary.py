"""The 27 characters that the model reads or writes."""

from __future__ import annotations

from typing import NamedTuple

END = "."
"""Stands before the first letter of a name as often as needed, once after the last."""

LETTERS = "abcdefghijklmnopqrstuvwxyz"


class Vocabulary(NamedTuple):
    """Both directions between characters and their indices."""

    stoi: dict[str, int]
    itos: dict[int, str]


def build_vocabulary() -> Vocabulary:
    """Number the characters as the lecture does: `.` is 0, `a` to `z` are 1 to 26.

    The same whatever names are loaded, so that the network has the same size for everybody.

    >>> stoi, itos = build_vocabulary()
    >>> stoi["e"], itos[0], len(itos)
    (5, '.', 27)
    """
    itos = dict(enumerate(END + LETTERS))
    stoi = {character: index for index, character in itos.items()}
    return Vocabulary(stoi, itos)
