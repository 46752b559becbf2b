"""Refuse a gradebook whose notebooks are not those of the course at hand."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from grader.printable import listed, printable
from grader.program.course import Course
from grader.submission.notebook_file import shown
from grader.user_error import UserError


class OtherCourse(UserError):
    """The gradebook is of another course; the message is a sentence."""


def refuse_other_course(gradebook: Path, notebooks: Iterable[str], course: Course) -> None:
    """Raise OtherCourse if the gradebook has `notebooks` that the course does not have.

    Without this, their results would count for nothing and nothing would say so.
    """
    known = set(course.notebooks)
    if others := sorted(name for name in notebooks if name not in known):
        raise OtherCourse(
            f"{shown(gradebook)} has notebooks that are not in this course: "
            f"{listed(map(printable, others))}. Give the --course that `grader grade` was given."
        )
