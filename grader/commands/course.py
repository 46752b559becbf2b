"""The course that a command is about."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import click

from grader.printable import printable
from grader.program.course import Course, built_in_course
from grader.program.course_file import BadCourse
from grader.submission.which_course import course_called

Command = TypeVar("Command", bound=Callable[..., object])


def course_option(command: Command) -> Command:
    """Add `--course FOLDER`, which `course_for` understands."""
    return click.option(
        "--course",
        is_eager=True,  # other options may ask for something of it
        metavar="FOLDER",
        help="The course: its folder, or the name of an installed one, or built-in. By default the "
        "one that the notebook names, or a course.toml beside or above it, else the built-in one. "
        "Its forward functions are run: take courses from people you trust.",
    )(command)


def instructors_course(asked: str | None, handed_in: Path | None = None) -> Course:
    """The course a class is graded by: the one asked for, or else the built-in one.

    Raises:
        BadCourse: it lies in what students handed in, where its functions would be theirs.
    """
    course = built_in_course() if asked is None else course_called(asked, Path())
    if handed_in is not None and course.folder.resolve().is_relative_to(handed_in.resolve()):
        raise BadCourse(
            f"The course {printable(str(course.folder))} lies in the folder that is graded: its "
            "functions would be run as a student left them. Keep it elsewhere."
        )
    return course
