"""The words of `torch_words.toml`, which tells what PyTorch's functions do."""

from __future__ import annotations

import tomllib
from pathlib import Path

_TABLE = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))

WORDS = {does: frozenset[str](names) for does, names in _TABLE.items()}
"""The names of functions and methods by what they do."""

MODULES = WORDS["modules"]


def changes_in_place(name: str) -> bool:
    """Tell from its name whether a function changes its tensor in place, as `add_` does."""
    return (name.endswith("_") and not name.endswith("__")) or name in WORDS["fills"]
