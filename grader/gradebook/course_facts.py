"""What the gradebook knows of the course without running any of it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

FILE = Path(__file__).parent / "course.json"


@dataclass(frozen=True, slots=True)
class Node:
    """A box of a board, in pixels from the top left."""

    label: str
    left: int
    top: int
    width: int
    height: int


@dataclass(frozen=True, slots=True)
class Board:
    """An exercise's graph as it is drawn: `edges` and `heads` of its arrows are SVG paths."""

    width: int
    height: int
    nodes: tuple[Node, ...]
    edges: str
    heads: str


@dataclass(frozen=True, slots=True)
class ExerciseFacts:
    """An exercise: the prefix of its cells ("ex1"), its notebook, the gradients asked for."""

    prefix: str
    notebook: str
    gradients: tuple[str, ...]
    board: Board


@cache
def read_course(path: Path = FILE) -> tuple[ExerciseFacts, ...]:
    """Every exercise, in the order of the course."""
    return tuple(
        ExerciseFacts(
            facts["prefix"],
            facts["notebook"],
            tuple(facts["gradients"]),
            _board(facts["board"]),
        )
        for facts in json.loads(path.read_text(encoding="utf-8"))
    )


def _board(drawn: dict[str, object]) -> Board:
    nodes = drawn["nodes"]
    assert isinstance(nodes, list)
    return Board(
        **{**drawn, "nodes": tuple(Node(*node) for node in nodes)}  # type: ignore[arg-type]
    )


def notebooks() -> tuple[str, ...]:
    """The course's notebooks, in its order."""
    return tuple(dict.fromkeys(facts.notebook for facts in read_course()))


def exercises_of(notebook: str) -> Sequence[ExerciseFacts]:
    """The exercises of a notebook; none where the course does not have it."""
    return [facts for facts in read_course() if facts.notebook == notebook]


def gradients_of(notebook: str) -> tuple[tuple[str, str], ...]:
    """The gradients of a notebook with the prefix of each one's exercise."""
    return tuple(
        (facts.prefix, gradient) for facts in exercises_of(notebook) for gradient in facts.gradients
    )
