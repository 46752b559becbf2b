"""Known mistakes: a few right lines with one or two edits, and what is said of each."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
import torch.nn.functional as F

Replacement = tuple[str, str]
"""What is replaced, and by what."""


def name_mistake(
    lines: str,
    mistakes: Mapping[Replacement, str],
    names: Mapping[str, Any],
    is_it: Callable[[Mapping[str, Any]], bool],
    most: int = 2,
) -> str:
    """What is said of the fewest edits that give what a student's function gives, or "".

    Args:
        lines: the right ones; an edit replaces a piece of them.
        mistakes: what is said of each edit, the likeliest first.
        names: what the lines may use, beside torch and F.
        is_it: whether the names that they leave hold what is to be explained.
        most: so many edits may come together.
    """
    counts = range(1, most + 1)
    for some in (each for count in counts for each in itertools.combinations(mistakes, count)):
        scope = {"torch": torch, "F": F, **names}
        try:
            exec(_edited(lines, some), scope)
            if is_it(scope):
                said = " ".join(mistakes[edit] for edit in some)
                return said.replace(" in it. There is no ", " and no ")
        except (RuntimeError, SyntaxError, KeyError):  # two edits need not go together
            continue
    return ""


def _edited(lines: str, some: Sequence[Replacement]) -> str:
    """The lines with some edits; nothing where these overlap."""
    spans = sorted((lines.index(old), lines.index(old) + len(old), new) for old, new in some)
    if any(end > start for (_, end, _), (start, *_) in itertools.pairwise(spans)):
        return ""
    for start, end, new in reversed(spans):
        lines = lines[:start] + new + lines[end:]
    return lines
