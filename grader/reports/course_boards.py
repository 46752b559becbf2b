"""The boards of a course's exercises, drawn before there are any verdicts."""

# The process that keeps the books of a class does not import torch, as forward programs do. A
# course may therefore have its boards in a file: for the built-in one,
# `python -m grader.reports.course_boards` writes it, and a test compares it.

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache

from markupsafe import Markup

from grader.program.course import Course, built_in_course
from grader.reports.board import draw_board, in_groups, is_wide, mark_board
from grader.verdict import Outcome, Report

FILE = "boards.json"
"""Its name in a course's folder."""


def boards(report: Report, course: Course) -> list[Markup]:
    """The boards of a notebook's exercises; a gradient that the report lacks is to do.

    A large board is followed by the list that takes its place on a narrow page.
    """
    found = {verdict.name: verdict.outcome for verdict in report.verdicts}
    drawn = []
    for each in course.outlines(report.notebook):
        outcomes = {name: found.get(name, Outcome.TODO) for name in each.gradients}
        board = mark_board(read_boards(course)[each.prefix], outcomes, each.points)
        drawn.append(board + in_groups(outcomes) if is_wide(board) else board)
    return drawn


@cache
def read_boards(course: Course) -> Mapping[str, str]:
    """The board of each exercise, a text for `mark_board`: from the course's file, or drawn."""
    path = course.folder / FILE
    if path.is_file():
        document = json.loads(path.read_text(encoding="utf-8"))
        if document["of"] == course.digest:
            kept: dict[str, str] = document["boards"]
            return kept
    return _draw(course)


def boards_file(course: Course) -> str:
    """The text of the file that `read_boards` reads."""
    return json.dumps({"of": course.digest, "boards": _draw(course)}, indent=1) + "\n"


def _draw(course: Course) -> dict[str, str]:
    from grader.program.exercises import load_exercises
    from grader.program.parse import parse_program

    return {
        each.prefix: draw_board(parse_program(each.forward), each.gradients)
        for each in load_exercises(course)
    }


if __name__ == "__main__":
    course = built_in_course()
    (course.folder / FILE).write_text(boards_file(course), encoding="utf-8", newline="\n")
