"""What the whole training of 200,000 steps ended with, for those who have not made it."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files

import torch
from torch import Tensor

LONGEST = 14
"""Letters of a name that a table shows; an untrained network makes up longer ones."""


@dataclass(frozen=True, slots=True, eq=False)
class WholeRun:
    """The run of `make train` on the lecture's names.

    Attributes:
        training_loss: in nats a character, over the whole training set.
        validation_loss: likewise.
        names: the twenty that it makes up.
        C: what it has learnt of each character, float32 (27, 10), rounded.
        middle: the ten principal components of `C @ W1[10:20]`, what the hidden layer sees of a
            window's middle character, float32 (27, 10), rounded.
    """

    training_loss: float
    validation_loss: float
    names: tuple[str, ...]
    C: Tensor
    middle: Tensor


def whole_run() -> WholeRun:
    """Read the stored results of the whole run: nothing is trained."""
    text = files("makemore_data.training").joinpath("whole_run.json").read_text(encoding="utf-8")
    stored = json.loads(text)
    return WholeRun(
        stored["training_loss"],
        stored["validation_loss"],
        tuple(stored["names"]),
        torch.tensor(stored["C"]),
        torch.tensor(stored["middle"]),
    )


def names_table(columns: Mapping[str, Sequence[str]], known: Collection[str]) -> str:
    """Names side by side as Markdown, those that are known in italics.

    Args:
        columns: names, by the heading of their column.
        known: the names that are not new, such as those trained on.
    """
    old = set(known)

    def shown(name: str) -> str:
        short = name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}…"
        return f"*{short}*" if name in old else short

    new = [
        f"{sum(name not in old for name in names)} of {len(names)} new"
        for names in columns.values()
    ]
    rows = [[*columns], [":--"] * len(columns)]
    rows += [list(map(shown, row)) for row in zip(*columns.values(), strict=True)]
    lines = [f"| {' | '.join(row)} |" for row in [*rows, [f"**{count}**" for count in new]]]
    # On a telephone the table moves under the finger, and the page does not.
    return "\n".join(('<div style="overflow-x: auto">', "", *lines, "", "</div>"))
