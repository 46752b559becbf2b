"""Whose pages a gradebook holds, and where each student's files were found."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from grader.classroom.gradebook.adjustments import ADJUSTMENTS
from grader.classroom.gradebook.grades_csv import id_cell
from grader.classroom.gradebook.read_grades import GRADES, Graded, read_grades
from grader.classroom.gradebook.report.pages import is_ours, page_name
from grader.classroom.gradebook.write import REPORT, STUDENTS
from grader.classroom.intake.class_folder import Student
from grader.classroom.run.results import RESULTS, UNFINISHED, Results
from grader.classroom.spreadsheet import unescaped
from grader.printable import listed, printable
from grader.user_error import UserError

SHOWN = 10
"""So many students are named where there may be thousands."""


class StaleGradebook(UserError):
    """The pages do not show what is known by now; the message says how to write them anew."""


@dataclass(frozen=True, slots=True)
class Recipient:
    """A student, the page that is theirs, and the files handed in.

    `adjusted` is True if the instructor changed or said something, `files` are paths in the folder
    that was graded.
    """

    student: Student
    page: Path
    adjusted: bool
    files: tuple[str, ...]


def refuse_stale(gradebook: Path) -> None:
    """Raise StaleGradebook if pages lack a result, or are older than the adjustments."""
    if (gradebook / UNFINISHED).exists():
        raise StaleGradebook(
            f"The last `grader grade` has not written all of {printable(str(gradebook))}: wait for "
            "it, or give it again. Nothing is graded again."
        )
    grades, path = gradebook / GRADES, gradebook / ADJUSTMENTS
    if grades.exists() and path.exists() and path.stat().st_mtime_ns > grades.stat().st_mtime_ns:
        raise StaleGradebook(
            f"{printable(str(path))} was changed after the pages were written, which do not show "
            "that yet: give `grader grade` again first. Nothing is graded again."
        )


def read_recipients(gradebook: Path) -> tuple[list[Recipient], list[str]]:
    """Everybody who has a page, in the order of `grades.csv`, and what the instructor should know.

    Raises:
        NoGradebook: the folder has no table.
        BrokenResults: a line of its results is not one.
        OSError: a file cannot be read.
    """
    files: dict[str, list[str]] = defaultdict(list)
    with Results(gradebook / RESULTS) as results:
        for line in results.lines():
            files[line.file.student].append(line.file.path)
    rows = read_grades(gradebook).rows
    ids = _exact_ids(rows, files)
    found, unclear, without = [], [], []
    for row in rows:
        id_ = ids.get(row.student.id)
        if id_ is None:
            unclear.append(row)
            continue
        page = gradebook / REPORT / STUDENTS / page_name(id_)
        if is_ours(page):
            student = replace(row.student, id=id_)
            found.append(Recipient(student, page, row.adjusted, tuple(files.get(id_, ()))))
        else:
            without.append(row)
    notices = [
        f"{named(each.student for each in group)}: {why}."
        for group, why in (
            (unclear, "their ids look the same in grades.csv, and nothing is handed back"),
            (without, "there is no page in the report; give `grader grade` again"),
        )
        if group
    ]
    return found, notices


def _exact_ids(rows: Iterable[Graded], known: Iterable[str]) -> dict[str, str]:
    """What the ids of the table stand for, without those that may be either of two students.

    The table spells out what cannot be seen, so that two ids may look the same there. The results
    have them as they are; who handed in nothing is not in them.
    """
    exact: dict[str, set[str]] = defaultdict(set)
    for id_ in known:
        exact[unescaped(id_cell(id_))].add(id_)
    times = Counter(row.student.id for row in rows)
    return {
        spelled: next(iter(exact.get(spelled, {spelled})))
        for spelled, number in times.items()
        if number == 1 and len(exact.get(spelled, ())) <= 1
    }


def named(students: Iterable[Student]) -> str:
    """The students' ids, with their names where these are known; the first of many."""
    return listed(
        (
            f"{printable(student.id)} ({printable(student.name)})"
            if student.name not in ("", student.id)
            else printable(student.id)
            for student in students
        ),
        most=SHOWN,
    )
