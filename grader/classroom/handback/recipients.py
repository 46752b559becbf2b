"""The students whose pages a gradebook holds, and where their files were found."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from grader.classroom.class_settings import settings_files
from grader.classroom.gradebook.adjustments import ADJUSTMENTS
from grader.classroom.gradebook.report.pages import is_ours
from grader.classroom.gradebook.write import GRADES, REPORT, STUDENTS
from grader.classroom.intake.class_folder import Student
from grader.classroom.run.results import RESULTS, UNFINISHED, Results
from grader.printable import listed, printable
from grader.user_error import UserError

SHOWN = 10
"""The most students that a sentence names, since there may be thousands."""


class StaleGradebook(UserError):
    """The pages are out of date; the message says how to write them again."""


@dataclass(frozen=True, slots=True)
class Recipient:
    """A student, their page, and their files.

    `adjusted` is True if the instructor changed or commented something. `files` are paths in the
    graded folder.
    """

    student: Student
    page: Path
    adjusted: bool
    files: tuple[str, ...]


def refuse_stale(gradebook: Path) -> None:
    """Raise StaleGradebook if pages lack a result, or are older than their sources."""
    if (gradebook / UNFINISHED).exists():
        raise StaleGradebook(
            f"The last `grader grade` has not written all of {printable(str(gradebook))}: wait for "
            "it, or give it again. Nothing is graded again."
        )
    grades = gradebook / GRADES
    for path in (gradebook / ADJUSTMENTS, *settings_files(gradebook)):
        if grades.exists() and path.exists() and path.stat().st_mtime > grades.stat().st_mtime:
            raise StaleGradebook(
                f"{printable(str(path))} was changed after the pages were written, which do not "
                "show that yet: give `grader grade` again first. Nothing is graded again."
            )


def read_recipients(gradebook: Path) -> tuple[list[Recipient], list[str]]:
    """Everybody who has a page, by id, and notices for the instructor.

    Raises:
        BrokenResults: a line of the results is not a result.
        OSError: a file cannot be read.
    """
    files: dict[str, list[str]] = defaultdict(list)
    found, without = [], []
    with Results(gradebook / RESULTS) as results:
        for line in results.lines():
            files[line.file.student].append(line.file.path)
        for id_, name, email, page_name, adjusted in results.book("person"):
            page = gradebook / REPORT / STUDENTS / page_name
            student = Student(id_, name, email)
            if is_ours(page):
                found.append(Recipient(student, page, bool(adjusted), tuple(files.get(id_, ()))))
            else:
                without.append(student)
    why = "there is no page in the report; give `grader grade` again"
    return found, [f"{named(without)}: {why}."] if without else []


def named(students: Iterable[Student]) -> str:
    """The students' ids, with their names if known; of many, only the first."""
    return listed(
        (
            f"{printable(student.id)} ({printable(student.name)})"
            if student.name not in ("", student.id)
            else printable(student.id)
            for student in students
        ),
        most=SHOWN,
    )
