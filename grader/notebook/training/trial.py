"""A trial: a student's function run on small data, beside wrong ones that are known."""

from __future__ import annotations

import itertools
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
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


MISTAKES = tomllib.loads(Path(__file__).with_name("mistakes.toml").read_text(encoding="utf-8"))
"""For each part its right lines, and what is tried in them; what exceptions mean."""

Mistake = tuple[str, str, str]
"""A piece of the lines, what stands in its place, and what is said of that."""


def name_mistake(
    part: str,
    names: Mapping[str, Any],
    is_it: Callable[[Mapping[str, Any]], bool],
    most: int = 2,
) -> str:
    """What is said of the fewest mistakes that give what a student's function gives, or "".

    Args:
        part: which part of a training it is, such as "update".
        names: what its lines may use, beside torch and F.
        is_it: whether the names that they leave hold what is to be explained.
        most: so many mistakes may come together.
    """
    lines = MISTAKES[part]["lines"]
    mistakes: list[Mistake] = [
        (old.replace("{}", word), new.replace("{}", word), sentence.replace("{}", word))
        for old, new, sentence, *words in MISTAKES[part]["mistakes"]
        for word in words or ["{}"]
    ]
    counts = range(1, most + 1)
    for some in (each for count in counts for each in itertools.combinations(mistakes, count)):
        scope = {"torch": torch, "F": F, **names}
        try:
            exec(_edited(lines, some), scope)
            if is_it(scope):
                said = " ".join(sentence for _, _, sentence in some)
                return said.replace(" in it. There is no ", " and no ")
        except (RuntimeError, SyntaxError, KeyError):  # two mistakes need not go together
            continue
    return ""


def _edited(lines: str, some: Sequence[Mistake]) -> str:
    """The lines with some mistakes; nothing where these overlap."""
    spans = sorted((lines.index(old), lines.index(old) + len(old), new) for old, new, _ in some)
    if any(end > start for (_, end, _), (start, *_) in itertools.pairwise(spans)):
        return ""
    for start, end, new in reversed(spans):
        lines = lines[:start] + new + lines[end:]
    return lines


def meaning(part: str, message: str) -> str:
    """What an exception with this message means in a part of a training, a sentence, or ""."""
    for pattern, sentence in MISTAKES["raised"]["meanings"]:
        if found := re.search(pattern, f"{part}: {message}"):
            return found.expand(sentence)
    return ""
