"""The course that a command works on, with its notebooks."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import click

from grader.printable import printable
from grader.program.course import BadCourse, Course, built_in_course
from grader.submission.which_course import course_called
from grader.user_error import UserError

Command = TypeVar("Command", bound=Callable[..., object])


def _course_option(by_default: str) -> Callable[[Command], Command]:
    return click.option(
        "--course",
        metavar="COURSE",
        help="The course: its folder, or a notebook that carries it, or the name of an installed "
        f"one, or built-in. By default {by_default}. Its forward functions are run: take courses "
        "from people you trust.",
    )


course_option = _course_option(
    "the one that GRADER_COURSE or the notebook names, or a course.toml beside or above it, else "
    "the built-in one"
)
"""Adds `--course COURSE`, whose value goes to `course_for`."""

class_course_option = _course_option("the built-in one, whatever a notebook or GRADER_COURSE names")
"""Adds `--course COURSE`, whose value goes to `instructors_course`."""


def instructors_course(asked: str | None, handed_in: Path | None = None) -> Course:
    """The course by which a class is graded: the requested one, or else the built-in one.

    Raises:
        BadCourse: the course is inside the students' submissions, who could have written it.
    """
    course = built_in_course() if asked is None else course_called(asked)
    place = Path(asked) if asked and Path(asked).is_file() else course.folder
    if handed_in is not None and place.resolve().is_relative_to(handed_in.resolve()):
        raise BadCourse(
            f"The course {printable(str(place))} lies in the folder that is graded: its "
            "functions would be run as a student left them. Keep it elsewhere."
        )
    return course


def course_notebook(text: str, course: Course, option: str) -> str:
    """The course's notebook that an option names.

    Raises:
        UserError: the course has no such notebook.
    """
    try:
        return course.notebook_called(text)
    except ValueError as error:
        raise UserError(f"{option}: {error}") from None
