"""The course that a command is about, with its notebooks."""

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
"""Adds `--course COURSE`, which `course_for` understands."""

class_course_option = _course_option("the built-in one, whatever a notebook or GRADER_COURSE names")
"""Adds `--course COURSE`, which `instructors_course` understands."""


def instructors_course(asked: str | None, handed_in: Path | None = None) -> Course:
    """The course a class is graded by: the one asked for, or else the built-in one.

    Raises:
        BadCourse: it lies in what students handed in, where its functions would be theirs.
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
        UserError: there is none.
    """
    try:
        return course.notebook_called(text)
    except ValueError as error:
        raise UserError(f"{option}: {error}") from None
