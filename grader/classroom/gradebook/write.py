"""Write the gradebook: tables, test results, and the report with a page for each student."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from pathlib import Path

import polars as pl
from polars import col

from grader.classroom.gradebook.about_book import about_changes, about_columns, about_rows
from grader.classroom.gradebook.book import Book
from grader.classroom.gradebook.cells import UNIT
from grader.classroom.gradebook.grades_csv import write_grades
from grader.classroom.gradebook.junit_suites import write_junit
from grader.classroom.gradebook.platform_csv import about_platform, write_canvas, write_moodle
from grader.classroom.gradebook.report.class_page import class_page
from grader.classroom.gradebook.report.class_summary import ClassSummary, Figures, figures
from grader.classroom.gradebook.report.lecture_page import lecture_page
from grader.classroom.gradebook.report.pages import is_ours, page_name
from grader.classroom.gradebook.report.student_page import lines_of, student_page
from grader.classroom.run.results import UNFINISHED, Results
from grader.whole_file import is_left_over, write_whole

GRADES, REPORT, STUDENTS, LECTURE = "grades.csv", "report", "students", "lecture.html"


@dataclass(frozen=True, slots=True)
class Written:
    """The report's first page, its figures, and the unreadable files.

    `lost` are the students with graded work that earned nothing. `notices` are sentences for the
    instructor, including remarks. `changed` says whose points have changed since the last time, and
    is "" if none have.
    """

    index: Path
    figures: Figures
    unreadable: tuple[str, ...]
    lost: tuple[str, ...]
    notices: tuple[str, ...]
    changed: str


def render(book: Book, out: Path, junitxml: Path | None = None) -> Written:
    """Write `grades.csv`, `report/` and the file that the class list's platform imports.

    The folder is made if it is missing, and `junitxml` gets the verdicts as JUnit XML. Each file is
    replaced as a whole, and the report's first page last. Until then, `.unfinished` says that some
    files may come from an earlier run. Equal results give equal bytes, in whatever order they were
    found. Each student's lines are read again for the student's page.

    Raises:
        UnknownColumn: a column cannot take Canvas's points; nothing has been written.
        BrokenResults: a line of the results is not a result.
        OSError: a file cannot be written; the previous one is still there.
    """
    notices = (*about_rows(book), *about_columns(book), *about_platform(book))
    before = _written_at(out / GRADES)
    students = out / REPORT / STUDENTS
    students.mkdir(parents=True, exist_ok=True)
    (out / UNFINISHED).touch()
    write_grades(book, out / GRADES)
    write_canvas(book, out / "canvas.csv")
    write_moodle(book, out / "moodle.csv")
    summary, pages = ClassSummary(), set[str]()
    with Results(book.results) as results:
        for row in book.rows():
            lines = lines_of(row, results)
            pages.add(page := page_name(row["student"].id))
            write_page(students / page, student_page(row, lines, book.rubric))
            summary.add(row, lines)
        if junitxml is not None:
            write_junit(junitxml, book, results)
    write_page(out / REPORT / LECTURE, lecture_page(summary, book.rubric.course))
    index = out / REPORT / "index.html"
    write_page(index, class_page(book, summary, [*book.class_folder.notices, *notices]))
    _remove_others(students, pages)
    with Results(book.results, change=True) as results:
        changed = "".join(about_changes(book, results, before))
        award = ((change, str(out_of)) for change, out_of in book.awarded.items())
        results.write_book(person=_people(book), grade=_grades(book), award=award)
    (out / UNFINISHED).unlink()
    return Written(index, figures(book), unreadable_in(book), lost_in(book), notices, changed)


def unreadable_in(book: Book) -> tuple[str, ...]:
    """The files that could not be graded."""
    files = book.people["files"].explode(empty_as_null=False).struct.unnest()
    return tuple(files.filter(col("error") != "")["path"].unique(maintain_order=True))


def lost_in(book: Book) -> tuple[str, ...]:
    """The students with graded work that earned nothing."""
    file = pl.element().struct
    lost = file.field("earned_nothing") & (file.field("error") == "")
    whose = book.people.filter(col("files").list.eval(lost).list.any())["student"]
    return tuple(who.name or who.id for who in (book.students[place] for place in whose))


def _people(book: Book) -> Iterator[tuple[object, ...]]:
    for who, adjusted in zip(book.students, book.people["adjusted"], strict=True):
        yield who.id, who.name, who.email, page_name(who.id), adjusted


def _grades(book: Book) -> Iterator[tuple[object, ...]]:
    shown = book.cells.select("student", "notebook", "status", "points", "max_points", "file")
    for student, notebook, status, points, most, file in shown.iter_rows():
        earned = [str(Fraction(each, UNIT)) for each in (points, most)]
        yield book.students[student].id, notebook, status, *earned, file


def _written_at(path: Path) -> datetime | None:
    with suppress(OSError):
        return datetime.fromtimestamp(path.stat().st_mtime).astimezone()
    return None


def _remove_others(folder: Path, pages: Collection[str]) -> None:
    """Delete the pages of students who are no longer in the class."""
    for path in sorted(folder.iterdir()):
        if path.suffix == ".html" and path.name not in pages:
            if is_ours(path):
                path.unlink()
        elif is_left_over(path):
            path.unlink()


def write_page(path: Path, text: str) -> None:
    """Replace a page if it has changed.

    Replacing a file takes milliseconds, because the file system makes sure of it. Without the
    comparison, a second gradebook of the same class would spend most of its time on unchanged
    pages.
    """
    with suppress(OSError):
        if path.read_bytes() == text.encode("utf-8", "backslashreplace"):
            return
    write_whole(path, text)
