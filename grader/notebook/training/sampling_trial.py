"""What the sampling of names is tried on, and the mistakes known by name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from grader.notebook.training.trial import BLOCK_SIZE, MOST_CALLS, Endless, Part
from grader.printable import listed
from makemore_data.names.vocabulary import build_vocabulary

NOT_AS_OFTEN = (
    "Characters are not drawn with the right probabilities: these are the softmax of the logits"
    " from `predict`, along axis 1."
)
LONG_NAME = 60
"""Characters of a name that no loop of a likely length reaches."""
SURE = 60.0
"""A logit so far above the others that its character is certain, and its power still finite."""


def try_sample_name(function: Part) -> str:
    """Have names made of predictions that are known: first a certain one, then chances."""
    _, itos = build_vocabulary()
    script = [5, 13, 1, 12, 25]
    looked_up: list[int] = []
    windows: list[list[int]] = []

    def certain(window: Any) -> Tensor:
        windows.append(torch.as_tensor(window).flatten().tolist())
        if len(windows) > MOST_CALLS:
            raise Endless("The name never ends: index 0, the dot, ends it.")
        number = len(windows) - 1
        index = script[number] if number < len(script) else 0
        return SURE * F.one_hot(torch.tensor([index]), 27).float()

    class Letters(dict[int, str]):
        """The characters, as long as they are not asked for without a prediction."""

        def __getitem__(self, index: int) -> str:
            looked_up.append(index)
            if len(looked_up) > MOST_CALLS and len(windows) == 1:
                raise Endless(
                    "It asks `predict` once and draws from that for ever: ask anew for every"
                    " character, inside the loop."
                )
            return super().__getitem__(index)

    certain.__qualname__ = "predict"  # so that an exception says the student's name of it
    name = function(certain, Letters(itos), BLOCK_SIZE, torch.Generator().manual_seed(2))
    if trouble := _trouble_with_windows(windows, [0, 0, 0, *script]):
        return trouble
    windows.clear()
    function(certain, itos, BLOCK_SIZE + 1, torch.Generator().manual_seed(2))
    if len(windows[0]) != BLOCK_SIZE + 1:
        return (
            f"Where `block_size` is {BLOCK_SIZE + 1}, it begins with {len(windows[0])} characters:"
            f" that it is {BLOCK_SIZE} is so in the notebook only."
        )
    due = "".join(itos[index] for index in script)
    if name == f"{due}.":
        return "The dot ends the name; it is no part of it."
    if name == due[-1:]:
        return "It returns the last character alone: add each to the name."
    if name == due[::-1]:
        return "The name is back to front: add each character behind the others."
    if name != due:
        return f"The characters {listed(due)} were drawn, and it returns {name!r}, not {due!r}."

    windows.clear()
    script[:] = [0, 5]
    if function(certain, itos, BLOCK_SIZE, torch.Generator().manual_seed(2)):
        return "Where the first character is the dot, the name ends with it, and is empty."

    chances = torch.full((1, 27), -30.0)
    chances[0, [1, 2]] = torch.tensor([0.8, 0.2]).log() - 2  # logits may be negative
    end = SURE * F.one_hot(torch.tensor([0]), 27).float()

    def chance(window: Any) -> Tensor:
        return end if torch.as_tensor(window).flatten()[-1] else chances

    def drawn(seed: int) -> list[str]:
        g = torch.Generator().manual_seed(seed)
        return [function(chance, itos, BLOCK_SIZE, g) for _ in range(200)]

    names = drawn(1)
    if len(set(names)) == 1:
        return _always_the_same(function)
    if names != drawn(1):
        return "The same seed gives other names: draw with the generator it is given."
    if not 0.68 < names.count("a") / len(names) < 0.92:
        return NOT_AS_OFTEN

    def endless(window: Any) -> Tensor:
        count.append(1)
        return end if len(count) > LONG_NAME else SURE * F.one_hot(torch.tensor([1]), 27).float()

    count: list[int] = []
    long = function(endless, itos, BLOCK_SIZE, torch.Generator())
    if len(long) != LONG_NAME:
        return f"It ends a name after {len(long)} characters: the dot alone ends it."
    return ""


def _always_the_same(function: Part) -> str:
    """Why all names are alike: have one made in which a letter is a little likelier than others."""
    asked: list[int] = []
    likeliest = 13
    chances = torch.zeros(1, 27)
    chances[0, [0, likeliest]] = torch.tensor([-SURE, 0.1])

    def uneven(window: Any) -> Tensor:
        asked.append(1)
        is_end = len(asked) > LONG_NAME
        return SURE * torch.eye(27)[:1] if is_end else chances

    _, itos = build_vocabulary()
    name = function(uneven, itos, BLOCK_SIZE, torch.Generator().manual_seed(1))
    if set(name) == {itos[likeliest]}:
        return "It always takes the likeliest character: draw one, each as often as is probable."
    again = (
        "It makes the same name every time: a generator that is made or seeded inside begins"
        " anew at every {}. Draw with `g`, as it is given."
    )
    return again.format("call" if len(set(name)) > 1 else "character")


def _trouble_with_windows(windows: Sequence[Sequence[int]], indices: Sequence[int]) -> str:
    """Compare the windows that predictions were asked for with those of a name's characters."""
    due = [list(indices[k : k + BLOCK_SIZE]) for k in range(len(indices) - BLOCK_SIZE + 1)]
    if not windows:
        return "It asks `predict` for nothing."
    if windows[0] != due[0]:
        return f"It begins with the window {windows[0]}; a name begins after {due[0]}."
    if windows == due:
        return ""
    if len(windows) == 1:
        return "It stops after one character."
    if windows[1] == due[0]:
        return (
            "The second character is asked for with the first window again: shift each new"
            " character into it, and begin with zeros once, before the loop."
        )
    second, new = windows[1], indices[BLOCK_SIZE]
    if len(second) != BLOCK_SIZE:
        return (
            f"The window has {len(second)} characters after the first step, and not {BLOCK_SIZE}."
        )
    if second[0] == new:
        return "A new character comes in on the left; the newest is the last of the window."
    if second[-1] != new:
        return NOT_AS_OFTEN
    if windows == due[: len(windows)]:
        return f"It ends a name after {len(windows)} characters: the dot alone ends it."
    for window, right in zip(windows, due, strict=False):
        if window != right:
            return f"After the window {due[due.index(right) - 1]} comes {window}, and not {right}."
    return f"It asks {len(windows)} times where {len(due)} characters, with the dot, were drawn."
