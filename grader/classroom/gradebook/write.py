"""The gradebook, written: tables, test results, and the report with a page for each student."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryFile
from xml.etree.ElementTree import Element

from polars import col

from grader.classroom.gradebook.book import Book, Record
from grader.classroom.gradebook.cells import UNIT
from grader.classroom.gradebook.codes import Role, Status
from grader.classroom.gradebook.grades_csv import write_grades
from grader.classroom.gradebook.platform_csv import about_platform, write_canvas, write_moodle
from grader.classroom.gradebook.report.class_page import class_page
from grader.classroom.gradebook.report.class_summary import ClassSummary, Figures, figures
from grader.classroom.gradebook.report.lecture_page import lecture_page
from grader.classroom.gradebook.report.pages import is_ours, page_name
from grader.classroom.gradebook.report.student_page import Lines, student_page
from grader.classroom.gradebook.rubric import points_text
from grader.classroom.notices import Note, Notice
from grader.classroom.run.results import UNFINISHED, Results
from grader.printable import counted, listed, printable
from grader.reports import junit
from grader.whole_file import is_left_over, whole_file, write_whole

GRADES, REPORT, STUDENTS, LECTURE = "grades.csv", "report", "students", "lecture.html"


@dataclass(frozen=True, slots=True)
class Written:
    """The report's first page, its figures, the files that nobody could read.

    `notices` are sentences for the instructor, remarks among them; `changed` says whose points are
    not what they were before, "" if nobody's.
    """

    index: Path
    figures: Figures
    unreadable: tuple[str, ...]
    notices: tuple[str, ...]
    changed: str


def render(book: Book, out: Path, junitxml: Path | None = None) -> Written:
    """Write `grades.csv` and `report/` into a folder, and what its class list's platform imports.

    The folder is made where it is not there; `junitxml` gets the verdicts as JUnit XML. Each file
    is replaced as a whole, the report's first page last; until then `.unfinished` says that some
    may be of an earlier run. The same results give the same bytes, in whatever order they were
    found. Each student's lines are read again for the student's page.

    Raises:
        UnknownColumn: a column cannot take Canvas's points; nothing has been written.
        BrokenResults: a line of the results is not a result.
        OSError: a file cannot be written; what was there before still is.
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
            _write_junit(junitxml, book, results)
    write_page(out / REPORT / LECTURE, lecture_page(summary, book.rubric.course))
    index = out / REPORT / "index.html"
    write_page(index, class_page(book, summary, [*book.class_folder.notices, *notices]))
    _remove_others(students, pages)
    with Results(book.results, change=True) as results:
        changed = "".join(about_changes(book, results, before))
        results.write_book(person=_people(book), grade=_grades(book), award=_awards(book))
    (out / UNFINISHED).unlink()
    return Written(index, figures(book), unreadable_in(book), notices, changed)


def lines_of(row: Record, results: Results) -> Lines:
    """The lines of a student's files that count or have flags."""
    looked_at = (file for file in row["files"] if file["role"] == Role.COUNTS or file["flags"])
    return {file["id"]: results.line(file["id"]) for file in looked_at}


def unreadable_in(book: Book) -> tuple[str, ...]:
    """The files that could not be graded."""
    files = book.people["files"].explode(empty_as_null=False).struct.unnest()
    return tuple(files.filter(col("error") != "")["path"].unique(maintain_order=True))


def _people(book: Book) -> Iterator[tuple[object, ...]]:
    for who, adjusted in zip(book.students, book.people["adjusted"], strict=True):
        yield who.id, who.name, who.email, page_name(who.id), adjusted


def _grades(book: Book) -> Iterator[tuple[object, ...]]:
    for row in book.rows():
        for cell in row["cells"]:
            points, most = str(cell["points"]), str(cell["max_points"])
            file = cell["counts"]["id"] if cell["counts"] else ""
            yield row["student"].id, cell["notebook"], cell["status"], points, most, file


def _awards(book: Book) -> Iterator[tuple[object, ...]]:
    yield from ((change, str(out_of)) for change, out_of in book.awarded.items())


def _written_at(path: Path) -> datetime | None:
    with suppress(OSError):
        return datetime.fromtimestamp(path.stat().st_mtime).astimezone()
    return None


def about_changes(book: Book, results: Results, before: datetime | None) -> Iterator[str]:
    """Whose points are not those of the gradebook that was written `before`."""
    had: dict[str, Fraction] = defaultdict(Fraction)
    for student, _, _, points, *_ in results.book("grade"):
        had[student] += Fraction(points)
    now = {
        student.id: Fraction(points, UNIT)
        for student, points in zip(book.students, book.people["points"], strict=True)
    }
    changed = [id_ for id_ in now if had.get(id_, now[id_]) != now[id_]]
    if before and changed:
        today = before.date() == datetime.now().astimezone().date()
        said = (
            f"{printable(id_)} {points_text(had[id_])} → {points_text(now[id_])}" for id_ in changed
        )
        yield (
            f"{counted(len(changed), 'grade')} changed since "
            f"{before:{'%H:%M' if today else '%d %b %Y, %H:%M'}}: {listed(said, most=5)}."
        )


def about_rows(book: Book) -> Iterator[Notice]:
    """What the instructor should know of files that do not count, and of adjusted points."""
    if several := len(book.ids(col("superseded") > 0)):
        whys = book.cells.filter(col("superseded") > 0)["why"].value_counts(sort=False)
        said = listed(
            f"{counted(n, 'time')} {why}" if len(whys) > 1 else why
            for why, n in sorted(whys.iter_rows(), key=lambda each: (-each[1], each[0]))
        )
        yield Note("several-files", students=counted(several, "student"), why=said)
    if adjusted := book.ids(col("adjusted")):
        yield Note("adjusted", who=listed(map(printable, adjusted), most=20))
    if untimed := book.ids(col("untimed")):
        yield Note("untimed", who=listed(map(printable, untimed), most=20))


def about_columns(book: Book) -> Iterator[Notice]:
    """Which notebooks few have handed in, where nobody has said what is due."""
    if book.rubric.notebooks:
        return
    for notebook, number in book.handed_in.items():
        due = ",".join(sorted({*book.columns, notebook}))
        said = {"number": f"{number:,}", "students": counted(book.present, "student")}
        if notebook not in book.columns:
            yield Notice("few-handed-in", notebook=notebook, due=due, **said)
    for notebook, most in book.columns.items():
        number = book.handed_in.get(notebook, 0)
        said = {"number": f"{number:,}", "students": counted(book.present, "student")}
        if 2 * number < book.present:
            yield Notice("few-count", notebook=notebook, points=points_text(most), **said)


def _write_junit(path: Path, book: Book, results: Results) -> None:
    with (
        whole_file(path) as file,
        TemporaryFile(dir=path.parent) as waiting,
        junit.suites_in(file, waiting) as add_suite,
    ):
        for row in book.rows():
            flags = [
                f"{kind}: {number}" for kind, number in sorted(Counter[str](row["flags"]).items())
            ]
            cases = _cases(row, lines_of(row, results))
            add_suite(junit.suite(row["student"].id or "(no id)", cases, flags))


def _cases(row: Record, lines: Lines) -> Iterator[Element]:
    """A testcase for each gradient of each file that counts; times are left out.

    A notebook that is missing is skipped, one that cannot be read is in error: no student is
    without a testcase.
    """
    for cell in row["cells"]:
        line = lines[cell["counts"]["id"]] if cell["counts"] else None
        if line and line.report and line.report.verdicts:
            for verdict in line.report.verdicts:
                yield junit.verdict_case(line.report.notebook, verdict)
        else:
            said = cell["unreadable"][0]["error"] if cell["unreadable"] else cell["status"]
            absent = "error" if cell["status"] == Status.UNREADABLE else "skipped"
            yield junit.case(cell["notebook"], "can be graded", absent, said)
    for file in row["elsewhere"]:
        if file["error"]:
            yield junit.case(file["path"], "can be graded", "error", file["error"])


def _remove_others(folder: Path, pages: Collection[str]) -> None:
    """Delete pages of an earlier gradebook, of students who are no longer in the class."""
    for path in sorted(folder.iterdir()):
        if path.suffix == ".html" and path.name not in pages:
            if is_ours(path):
                path.unlink()
        elif is_left_over(path):
            path.unlink()


def write_page(path: Path, text: str) -> None:
    """Replace a page that is not the same already.

    File systems make sure of a file that replaces another, which takes milliseconds: a second
    gradebook of the same class would spend most of its time on pages that have not changed.
    """
    with suppress(OSError):
        if path.read_bytes() == text.encode("utf-8", "backslashreplace"):
            return
    write_whole(path, text)
