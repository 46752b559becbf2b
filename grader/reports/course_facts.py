"""What is known of the course without running any of it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

FILE = Path(__file__).parent / "course.json"


@dataclass(frozen=True, slots=True)
class ExerciseFacts:
    """An exercise: the prefix of its cells ("ex1"), its notebook, the gradients asked for.

    `board` is its graph as SVG, a text for `grader.reports.board.mark_board`.
    """

    prefix: str
    notebook: str
    gradients: tuple[str, ...]
    board: str


@cache
def read_course() -> tuple[ExerciseFacts, ...]:
    """Every exercise, in the order of the course."""
    return tuple(
        ExerciseFacts(**facts | {"gradients": tuple(facts["gradients"])})
        for facts in json.loads(FILE.read_text(encoding="utf-8"))
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
