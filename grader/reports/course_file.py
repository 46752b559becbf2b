"""The file `course.json`, made from the course: gradients asked for, and their graphs drawn."""

# The process that keeps the books does not import torch, as exercises and forward programs do.
# What it needs of them depends on the course alone, so it is kept in a file:
# `python -m grader.reports.course_file` writes it, a test compares it.

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path

from grader.program.exercises import EXERCISES, Exercise
from grader.program.forward_program import parse_program
from grader.reports.board import draw_board
from grader.reports.course_facts import FILE, ExerciseFacts


def course_file(exercises: Iterable[Exercise] = EXERCISES) -> str:
    """The text of the file that `read_course` reads."""
    lines = ",\n".join(f" {json.dumps(asdict(_facts(one)))}" for one in exercises)
    return f"[\n{lines}\n]\n"


def _facts(exercise: Exercise) -> ExerciseFacts:
    board = draw_board(parse_program(exercise.forward), exercise.gradients)
    return ExerciseFacts(exercise.prefix, exercise.notebook, exercise.gradients, board)


if __name__ == "__main__":
    Path(FILE).write_text(course_file(), encoding="utf-8", newline="\n")
