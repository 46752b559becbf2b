"""The file `course.json`, made from the course: gradients asked for, and their graphs drawn."""

# The process that keeps the books does not import torch, as exercises and forward programs do, nor
# matplotlib, which measures text. What it needs of them depends on the course alone, so it is kept
# in a file: `python -m grader.classroom.course_file` writes it, a test compares it.

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path

from grader.classroom.course_facts import FILE, ExerciseFacts
from grader.pictures.board_picture import label, lay_out_board
from grader.pictures.graph_layout import Box, Point, smooth
from grader.program.exercises import EXERCISES, Exercise
from grader.program.forward_program import parse_program

_MARGIN = 3
_BADGE = 10
"""The radius of the circle that a gradient's sign stands in."""
_HEAD = 5.0
_NARROW = 500
"""Wider boards are not made smaller than can be read: they scroll."""
_LETTERS = 5.5
"""From the middle of a box down to the baseline of its text."""
_LABEL = "The network as a graph, each gradient marked with its verdict as in the table"


def course_file(exercises: Iterable[Exercise] = EXERCISES) -> str:
    """The text of the file that `read_course` reads."""
    lines = ",\n".join(f" {json.dumps(asdict(_facts(exercise)))}" for exercise in exercises)
    return f"[\n{lines}\n]\n"


def _facts(exercise: Exercise) -> ExerciseFacts:
    return ExerciseFacts(
        exercise.prefix, exercise.notebook, tuple(exercise.gradients), _board(exercise)
    )


def _board(exercise: Exercise) -> str:
    """The graph as SVG, in which the verdict on each gradient is left to be filled in."""
    program = parse_program(exercise.forward)
    layout = lay_out_board(program, exercise.gradients, (0.0, 0.0))
    width, height = round(layout.width), round(layout.height)
    view = f"-{_MARGIN} -{_MARGIN} {width + 2 * _MARGIN} {height + 2 * _MARGIN}"
    edges = "".join(_line(route) for route in layout.routes.values())
    heads = "".join(_head(*route[-1]) for route in layout.routes.values())
    boxes = [(label(program, name), box) for name, box in layout.boxes.items()]
    return (
        f'<svg class="graph{" wide" if width > _NARROW else ""}" viewBox="{view}"'
        f' width="{width + 2 * _MARGIN}" role="img"'
        f' aria-label="{_LABEL}"><path class="edges" d="{edges}"/><path class="heads" d="{heads}"/>'
        + "".join(_plain(name, box) for name, box in boxes if name not in exercise.gradients)
        + "".join(_gradient(name, box) for name, box in boxes if name in exercise.gradients)
        + "</svg>"
    )


def _plain(name: str, box: Box) -> str:
    """A box that nobody is asked for."""
    left, top, width, height = _pixels(box)
    return (
        f'<g class="box {"loss" if name == "loss" else "plain"}">{_rectangle(box)}'
        f'<text class="name" x="{left + width / 2:g}" y="{top + height / 2 + _LETTERS:g}"'
        f' text-anchor="middle">{name}</text></g>'
    )


def _gradient(name: str, box: Box) -> str:
    """The box of a gradient, with fields for its outcome, word and sign."""
    left, top, _, height = _pixels(box)
    x, y = left + 6 + _BADGE, top + height / 2
    return (
        f'<g class="box {{{name}.outcome}}"><title>{name}: {{{name}.word}}</title>'
        f'{_rectangle(box)}<circle cx="{x}" cy="{y:g}" r="{_BADGE}"/>'
        f'<text class="sign" x="{x}" y="{y + _LETTERS:g}">{{{name}.sign}}</text>'
        f'<text class="name" x="{x + _BADGE + 6}" y="{y + _LETTERS:g}">{name}</text></g>'
    )


def _rectangle(box: Box) -> str:
    left, top, width, height = _pixels(box)
    return f'<rect x="{left}" y="{top}" width="{width}" height="{height}" rx="8"/>'


def _pixels(box: Box) -> tuple[int, int, int, int]:
    return round(box.left), round(box.top), round(box.width), round(box.height)


def _line(route: Sequence[Point]) -> str:
    *before, (x, y) = route
    parts = smooth([*before, (x, y - _HEAD)])
    return "".join(letter + " ".join(_at(*point) for point in points) for letter, points in parts)


def _head(x: float, y: float) -> str:
    return f"M{_at(x, y)}l-3.5-6.5h7z"


def _at(x: float, y: float) -> str:
    return f"{round(x, 1):g},{round(y, 1):g}"


if __name__ == "__main__":
    Path(FILE).write_text(course_file(), encoding="utf-8", newline="\n")
