"""A class of damaged notebooks, by seed."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

from benchmarks.fuzzing import damaged_bytes, damaged_code, damaged_tree
from benchmarks.peers.assignment import notebook
from benchmarks.students import Paper, course_paper
from benchmarks.students.kinds import draw
from grader.authoring.blank import split_answers

LEVELS = {"bytes": 35, "tree": 30, "code": 35}
"""How many of a hundred are damaged where."""

WHOLE = 0.05
"""The share made from the course's whole notebook; the others are short, and so damaged more."""


@dataclass(frozen=True, slots=True)
class Damaged:
    """A file with what was done to it."""

    level: str
    damage: str
    data: bytes


def damaged(number: int, seed: int) -> Iterator[Damaged]:
    """So many damaged notebooks; the same ones for the same seed."""
    short, whole = Paper.of(notebook(with_tests=False)), course_paper()
    levels = random.Random(f"{seed}/levels").choices(
        list(LEVELS), weights=list(LEVELS.values()), k=number
    )
    for at, level in enumerate(levels):
        chance = random.Random(f"{seed}/{at}")
        paper = whole if chance.random() < WHOLE else short
        if level == "code":
            yield _with_damaged_code(paper, chance)
            continue
        data, other = (_handed_in(paper, chance) for _ in range(2))
        if level == "bytes":
            name, changed = damaged_bytes.damage(data, other, chance)
        else:
            name, changed = damaged_tree.damage(data, chance)
        yield Damaged(level, name, changed)


def _handed_in(paper: Paper, chance: random.Random) -> bytes:
    return paper.filled(draw(chance).text, "somebody").encode()


def _with_damaged_code(paper: Paper, chance: random.Random) -> Damaged:
    text = ""
    while not text:  # blank
        text = draw(chance).text
    cells = split_answers(text)
    name = ""
    for grade_id in chance.sample(list(cells), min(len(cells), chance.choice((1, 1, 2, 5)))):
        other = cells[chance.choice(list(cells))]
        name, cells[grade_id] = damaged_code.damage(cells[grade_id], other, chance)
    return Damaged("code", name, paper.filled_with(cells, "somebody").encode())
