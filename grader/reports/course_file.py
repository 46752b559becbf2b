"""The file `course.json`, made from the course: gradients asked for, and their graphs drawn."""

# The process that keeps the books does not import torch, as exercises and forward programs do, nor
# matplotlib, which measures text. What it needs of them depends on the course alone, so it is kept
# in a file: `python -m grader.reports.course_file` writes it, a test compares it.

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

from grader.pictures.board_picture import label, lay_out_board
from grader.pictures.graph_layout import Box, Point, smooth
from grader.program.exercises import EXERCISES, Exercise
from grader.program.forward_program import parse_program
from grader.reports.course_facts import FILE, ExerciseFacts
from grader.reports.templates import make_environment

_HEAD = 5.0
"""Pixels of an arrow that its head covers."""


def course_file(exercises: Iterable[Exercise] = EXERCISES) -> str:
    """The text of the file that `read_course` reads."""
    facts = (ExerciseFacts(e.prefix, e.notebook, e.gradients, _board(e)) for e in exercises)
    lines = ",\n".join(f" {json.dumps(asdict(one))}" for one in facts)
    return f"[\n{lines}\n]\n"


def _board(exercise: Exercise) -> str:
    """The graph as SVG, in which the verdict on each gradient is left to be filled in."""
    program = parse_program(exercise.forward)
    layout = lay_out_board(program, exercise.gradients, (0.0, 0.0))
    template = make_environment().get_template("board.svg.jinja")
    return template.render(
        width=round(layout.width),
        height=round(layout.height),
        edges=[part for route in layout.routes.values() for part in _line(route)],
        heads=[route[-1] for route in layout.routes.values()],
        boxes=[(label(program, name), *_pixels(box)) for name, box in layout.boxes.items()],
        gradients=exercise.gradients,
    )


def _line(route: Sequence[Point]) -> Iterator[tuple[str, tuple[Point, ...]]]:
    *before, (x, y) = route
    return smooth([*before, (x, y - _HEAD)])


def _pixels(box: Box) -> tuple[int, int, int, int]:
    return round(box.left), round(box.top), round(box.width), round(box.height)


if __name__ == "__main__":
    Path(FILE).write_text(course_file(), encoding="utf-8", newline="\n")
