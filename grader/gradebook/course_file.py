"""The file `course.json`, made from the course: gradients asked for, and their graphs drawn."""

# The gradebook does not import torch, as exercises and forward programs do, nor matplotlib, which
# measures text. What it needs of them depends on the course alone, so it is kept in a file:
# `python -m grader.gradebook.course_file` writes it, a test compares it.

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path

from grader.card import text_width
from grader.exercises import EXERCISES, Exercise
from grader.gradebook.course_facts import FILE
from grader.gradient_graph import gradient_graph
from grader.graph_layout import Point, lay_out
from grader.program import parse_program

_NAME = 17.0
_BESIDE_NAME = 40.0
"""Of a gradient's name: the badge and the margins."""
_BESIDE_PLAIN_NAME = 24.0
_ROUNDING = 8.0
_HEAD = 5.0


def course_file(exercises: Iterable[Exercise] = EXERCISES) -> str:
    """The text of the file that `read_course` reads."""
    lines = ",\n".join(f" {json.dumps(_facts(exercise))}" for exercise in exercises)
    return f"[\n{lines}\n]\n"


def _facts(exercise: Exercise) -> dict[str, object]:
    return {
        "prefix": exercise.prefix,
        "notebook": exercise.notebook,
        "gradients": list(exercise.gradients),
        "board": _board(exercise),
    }


def _board(exercise: Exercise) -> dict[str, object]:
    program = parse_program(exercise.forward)
    asked = set(exercise.gradients)
    # as in the picture of a notebook: inputs that nobody asks for lead nowhere
    readers = {
        name: arriving
        for name, arriving in gradient_graph(program).items()
        if name not in program.inputs or f"d{name}" in asked
    }
    labels = {name: name if name == program.loss else f"d{name}" for name in readers}
    widths = {
        name: text_width(label, _NAME) + (_BESIDE_NAME if label in asked else _BESIDE_PLAIN_NAME)
        for name, label in labels.items()
    }
    layout = lay_out(readers, widths, (0.0, 0.0))
    return {
        "width": round(layout.width),
        "height": round(layout.height),
        "nodes": [
            [labels[name], round(box.left), round(box.top), round(box.width), round(box.height)]
            for name, box in layout.boxes.items()
        ],
        "edges": "".join(_line(route) for route in layout.routes.values()),
        "heads": "".join(_head(*route[-1]) for route in layout.routes.values()),
    }


def _line(route: Sequence[Point]) -> str:
    """S-curves between points that differ in both directions, rounded corners at right angles."""
    *before, (last_x, last_y) = route
    route = [*before, (last_x, last_y - _HEAD)]
    path = f"M{_at(*route[0])}"
    for index, ((x0, y0), (x1, y1)) in enumerate(pairwise(route)):
        following = route[index + 2] if index + 2 < len(route) else None
        if abs(x0 - x1) > 1 and abs(y0 - y1) > 1:
            middle = (y0 + y1) / 2
            path += f"C{_at(x0, middle)} {_at(x1, middle)} {_at(x1, y1)}"
        elif following and ((x0 == x1 and y1 == following[1]) or (y0 == y1 and x1 == following[0])):
            path += f"L{_at(*_toward((x1, y1), (x0, y0)))}"
            path += f"Q{_at(x1, y1)} {_at(*_toward((x1, y1), following))}"
        else:
            path += f"L{_at(x1, y1)}"
    return path


def _toward(corner: Point, other: Point) -> Point:
    (x0, y0), (x1, y1) = corner, other
    share = min(0.5, _ROUNDING / (abs(x1 - x0) + abs(y1 - y0)))
    return x0 + share * (x1 - x0), y0 + share * (y1 - y0)


def _head(x: float, y: float) -> str:
    return f"M{_at(x, y)}l-3.5-6.5h7z"


def _at(x: float, y: float) -> str:
    return f"{round(x, 1):g},{round(y, 1):g}"


if __name__ == "__main__":
    Path(FILE).write_text(course_file(), encoding="utf-8", newline="\n")
