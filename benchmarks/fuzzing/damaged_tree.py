"""Damage to a notebook's JSON tree: what is there is of another type, or somewhere else."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable, Iterator, Mapping
from typing import Any

Place = tuple[Any, Any]
"""A list or dictionary, and a key of it."""

VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 4.5, 10**30, float("nan"), float("inf"), "", "0", "\ud800"),
    *("</script><script>alert(1)</script>", "=1+1", "../../etc/passwd", "\x00\x1b[31m", "ex1-loss"),
    *([], {}, [[]], [None], [1, "a"], {"": {}}, {"nbgrader": 1}, {"__proto__": []}, "x" * 100_000),
)
"""What stands in the place of something else."""

Damage = Callable[[dict[str, Any], random.Random], None]


def _other_value(notebook: dict[str, Any], chance: random.Random) -> None:
    holder, key = _some_place(notebook, chance)
    holder[key] = copy.deepcopy(chance.choice(VALUES))


def _gone(notebook: dict[str, Any], chance: random.Random) -> None:
    holder, key = _some_place(notebook, chance)
    del holder[key]


def _moved(notebook: dict[str, Any], chance: random.Random) -> None:
    (one, a), (other, b) = _some_place(notebook, chance), _some_place(notebook, chance)
    # copies: a value within itself has no JSON
    one[a], other[b] = copy.deepcopy(other[b]), copy.deepcopy(one[a])


def _deep(notebook: dict[str, Any], chance: random.Random) -> None:
    holder, key = _some_place(notebook, chance)
    value: Any = holder[key]
    for _ in range(chance.choice((3, 50, 400))):
        value = [value] if chance.random() < 0.5 else {"a": value}
    holder[key] = value


def _cells_again(notebook: dict[str, Any], chance: random.Random) -> None:
    cells = notebook["cells"]
    for _ in range(chance.choice((1, 5, 50))):
        cells.insert(chance.randrange(len(cells) + 1), copy.deepcopy(chance.choice(cells)))


def _cells_shuffled(notebook: dict[str, Any], chance: random.Random) -> None:
    chance.shuffle(notebook["cells"])


def _metadata(notebook: dict[str, Any], chance: random.Random) -> None:
    """Garbage where nbgrader and editors keep their notes."""
    for cell in notebook["cells"]:
        if chance.random() < 0.3:
            cell["metadata"] = {
                "nbgrader": chance.choice(
                    (
                        {"grade_id": chance.choice(VALUES), "solution": True},
                        {"grade_id": "ex1-loss", "solution": chance.choice(VALUES)},
                        {"grade_id": "ex9-unknown", "solution": True, "points": -1e308},
                        chance.choice(VALUES),
                    )
                ),
                "tags": chance.choice(VALUES),
            }


def _sources(notebook: dict[str, Any], chance: random.Random) -> None:
    """Cells whose text is a list of lines, of something else, or of another kind of cell."""
    for cell in notebook["cells"]:
        lines = str(cell["source"]).splitlines(keepends=chance.random() < 0.5)
        cell["source"] = chance.choice((cell["source"], lines, [*lines, 3], lines[::-1]))
        if chance.random() < 0.1:
            cell["cell_type"] = chance.choice(("raw", "markdown", "heading", "", None, 7))


def _format(notebook: dict[str, Any], chance: random.Random) -> None:
    notebook["nbformat"] = chance.choice((1, 2, 3, 4, 5, 99, -4, "4", 4.0, True, None))
    if chance.random() < 0.3:
        notebook["worksheets"] = [{"cells": notebook.pop("cells")}]


DAMAGES: Mapping[str, Damage] = {
    "another value": _other_value,
    "something gone": _gone,
    "places exchanged": _moved,
    "nested deeper": _deep,
    "cells again": _cells_again,
    "cells shuffled": _cells_shuffled,
    "metadata": _metadata,
    "sources": _sources,
    "another format": _format,
}


def damage(data: bytes, chance: random.Random) -> tuple[str, bytes]:
    """Some damage of one kind to a notebook; with its name."""
    notebook: dict[str, Any] = json.loads(data)
    name = chance.choice(list(DAMAGES))
    DAMAGES[name](notebook, chance)
    # Again and again, but for what grows with each time.
    if name in ("another value", "something gone"):
        for _ in range(chance.choice((0, 0, 1, 5, 30))):
            if notebook:
                DAMAGES[name](notebook, chance)
    text = json.dumps(notebook, ensure_ascii=chance.random() < 0.5)
    return name, text.encode("utf-8", "surrogatepass")


def _some_place(notebook: dict[str, Any], chance: random.Random) -> Place:
    """Any place, but often one near the top, where damage is felt."""
    places = list(_places(notebook))
    upper = [place for place in places if place[0] is notebook or place[1] != "text"]
    return chance.choice(upper or places)


def _places(value: Any) -> Iterator[Place]:
    # A stack, for what was nested deeper may be damaged once more.
    left = [value]
    while left:
        holder = left.pop()
        keys = holder.keys() if isinstance(holder, dict) else range(len(holder))
        for key in list(keys):
            yield holder, key
            if isinstance(holder[key], dict | list):
                left.append(holder[key])
