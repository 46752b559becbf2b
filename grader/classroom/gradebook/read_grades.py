"""`grades.csv` read back: who is in a gradebook, and which notebooks are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

from grader.classroom.gradebook.platform_form import maximum_in
from grader.classroom.intake.class_folder import Student
from grader.classroom.intake.csv_file import read_csv_file
from grader.classroom.spreadsheet import unescaped
from grader.printable import listed, printable
from grader.program.course import Course
from grader.submission.notebook_file import shown
from grader.user_error import UserError

GRADES = "grades.csv"

_SUMS = ("total", "grade")


class NoGradebook(UserError):
    """The folder is none that `grader grade` has written; the message is a sentence."""


class OtherCourse(UserError):
    """The gradebook is of another course; the message is a sentence."""


@dataclass(frozen=True, slots=True)
class Graded:
    """A row: the student as a table spells them.

    `adjusted` is True if the instructor changed or said something.
    """

    student: Student
    adjusted: bool


@dataclass(frozen=True, slots=True)
class Grades:
    """The rows, and the notebooks with the most that each earns."""

    rows: tuple[Graded, ...]
    most: Mapping[str, Fraction]


def read_grades(gradebook: Path) -> Grades:
    """Read the table of the gradebook in this folder.

    Raises:
        NoGradebook: there is none.
        UnreadableClass: it is no table; the message is a sentence.
    """
    path = gradebook / GRADES
    if not path.is_file():
        raise NoGradebook(
            f"{printable(str(path))} is not there: name the folder that `grader grade` has written."
        )
    header, *rows = read_csv_file(path, "gradebook").rows or ((),)
    said = [dict(zip(header, row, strict=False)) for row in rows if row]
    most = {
        name: max(
            (maximum_in(row.get(beside, "")) or Fraction(0) for row in said), default=Fraction(0)
        )
        for name, beside in pairwise(header)
        if beside == f"{name} max" and name not in _SUMS
    }
    return Grades(tuple(map(_graded, said)), most)


def _graded(row: Mapping[str, str]) -> Graded:
    student = Student(*(unescaped(row.get(name, "")) for name in ("id", "name", "email")))
    return Graded(student, bool(row.get("adjusted") or row.get("comment")))


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
