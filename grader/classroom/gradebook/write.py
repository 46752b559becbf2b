"""The gradebook, written: tables, test results, and the report with a page for each student."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryFile
from xml.etree.ElementTree import Element

from grader.classroom.gradebook.adjustments import Adjustments
from grader.classroom.gradebook.grades_csv import write_grades
from grader.classroom.gradebook.make_cell import Attempts
from grader.classroom.gradebook.make_table import build_table
from grader.classroom.gradebook.platform_csv import write_canvas, write_moodle
from grader.classroom.gradebook.platform_form import AS_THEY_ARE, PlatformForm, about_platform
from grader.classroom.gradebook.report.class_page import class_page
from grader.classroom.gradebook.report.class_summary import ClassSummary, Figures, figures
from grader.classroom.gradebook.report.lecture_page import lecture_page
from grader.classroom.gradebook.report.pages import is_ours
from grader.classroom.gradebook.report.student_page import Lines, student_page
from grader.classroom.gradebook.rubric import Rubric, points_text
from grader.classroom.gradebook.table import Row, Status, Table
from grader.classroom.intake.class_folder import ClassFolder
from grader.classroom.notices import Note, Notice
from grader.classroom.run.results import UNFINISHED, Results
from grader.printable import counted, listed, printable
from grader.reports import junit
from grader.whole_file import is_left_over, whole_file, write_whole

GRADES, REPORT, STUDENTS, LECTURE = "grades.csv", "report", "students", "lecture.html"


@dataclass(frozen=True, slots=True)
class Book:
    """What a gradebook is made from.

    `results` is the run's `results.jsonl`, `attempts` which of several files counts, `adjustments`
    what the instructor decided about single students, `form` what the platforms' files get.
    """

    class_folder: ClassFolder
    results: Path
    rubric: Rubric
    attempts: Attempts = Attempts.LATEST
    adjustments: Adjustments = field(default_factory=dict)
    form: PlatformForm = AS_THEY_ARE


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
    found. Of the results only what a table needs is kept in memory; each student's lines are read
    again for the student's page.

    Raises:
        UnusableAdjustment: an adjustment does not fit the class; nothing has been written.
        UnknownColumn: a column cannot take Canvas's points; nothing has been written.
        BrokenResults: a line of the results is not a result; nothing has been written.
        OSError: a file cannot be written; what was there before still is.
    """
    class_folder, rubric, form = book.class_folder, book.rubric, book.form
    table = build_table(
        class_folder, book.results, rubric, book.attempts, book.adjustments, form.canvas_columns
    )
    notices = (
        *about_rows(table),
        *([] if rubric.notebooks else about_columns(table)),
        *about_platform(table, class_folder, form, chosen=bool(rubric.notebooks)),
    )
    before = _written_at(out / GRADES)
    students = out / REPORT / STUDENTS
    students.mkdir(parents=True, exist_ok=True)
    (out / UNFINISHED).touch()
    write_grades(table, out / GRADES, form.scale)
    write_canvas(table, class_folder, out / "canvas.csv", form)
    write_moodle(table, class_folder, out / "moodle.csv", form)
    summary = ClassSummary()
    with Results(book.results) as opened:
        for row in table.rows:
            lines = lines_of(row, opened)
            write_page(students / row.page, student_page(row, lines, rubric))
            summary.add(row, lines)
        if junitxml is not None:
            _write_junit(junitxml, table, opened)
    write_page(out / REPORT / LECTURE, lecture_page(summary, rubric.course))
    index = out / REPORT / "index.html"
    about = [*class_folder.notices, *notices]
    write_page(index, class_page(table, summary, rubric.course.title, about))
    _remove_others(students, {row.page for row in table.rows})
    with Results(book.results, change=True) as opened:
        changed = "".join(about_changes(table, opened, before))
        opened.write_book(person=_people(table), grade=_grades(table), award=_awards(table))
    (out / UNFINISHED).unlink()
    unreadable = dict.fromkeys(file.path for row in table.rows for file in row.files if file.error)
    return Written(index, figures(table), tuple(unreadable), notices, changed)


def lines_of(row: Row, results: Results) -> Lines:
    """The lines of a student's files that count or have flags."""
    counting = {cell.counts.id for cell in row.cells if cell.counts}
    return {
        file.id: results.line(file.id) for file in row.files if file.id in counting or file.flags
    }


def _people(table: Table) -> Iterator[tuple[object, ...]]:
    for row in table.rows:
        who = row.student
        yield who.id, who.name, who.email, row.page, row.adjusted


def _grades(table: Table) -> Iterator[tuple[object, ...]]:
    for row in table.rows:
        for cell in row.cells:
            points, most = str(cell.points), str(cell.max_points)
            file = cell.counts.id if cell.counts else ""
            yield row.student.id, cell.column.notebook, cell.status, points, most, file


def _awards(table: Table) -> Iterator[tuple[object, ...]]:
    yield from ((change, str(out_of)) for change, out_of in table.awarded.items())


def _written_at(path: Path) -> datetime | None:
    with suppress(OSError):
        return datetime.fromtimestamp(path.stat().st_mtime).astimezone()
    return None


def about_changes(table: Table, results: Results, before: datetime | None) -> Iterator[str]:
    """Whose points are not those of the gradebook that was written `before`."""
    had: dict[str, Fraction] = defaultdict(Fraction)
    for student, _, _, points, *_ in results.book("grade"):
        had[student] += Fraction(points)
    changed = [row for row in table.rows if had.get(row.student.id, row.points) != row.points]
    if before and changed:
        today = before.date() == datetime.now().astimezone().date()
        said = (
            f"{printable(row.student.id)} {points_text(had[row.student.id])} → "
            f"{points_text(row.points)}"
            for row in changed
        )
        yield (
            f"{counted(len(changed), 'grade')} changed since "
            f"{before:{'%H:%M' if today else '%d %b %Y, %H:%M'}}: {listed(said, most=5)}."
        )


def about_rows(table: Table) -> Iterator[Notice]:
    """What the instructor should know of files that do not count, and of adjusted points."""
    several = [row for row in table.rows if any(cell.superseded for cell in row.cells)]
    if several:
        whys = Counter(cell.why for row in several for cell in row.cells if cell.superseded)
        said = listed(
            f"{counted(n, 'time')} {why}" if len(whys) > 1 else why
            for why, n in sorted(whys.items(), key=lambda each: (-each[1], each[0]))
        )
        yield Note("several-files", students=counted(len(several), "student"), why=said)
    if adjusted := [printable(row.student.id) for row in table.rows if row.adjusted]:
        yield Note("adjusted", who=listed(adjusted, most=20))
    untimed = [row.student.id for row in table.rows if any(cell.untimed for cell in row.cells)]
    if untimed:
        yield Note("untimed", who=listed(map(printable, untimed), most=20))


def about_columns(table: Table) -> Iterator[Notice]:
    """Which notebooks few have handed in, where nobody has said what is due."""
    counting = [column.notebook for column in table.columns]
    seen = {*counting, *table.left_out}
    came = [{file.notebook for file in row.files} & seen for row in table.rows]
    present = sum(bool(notebooks) for notebooks in came)
    for name in table.left_out:
        number = sum(name in notebooks for notebooks in came)
        due = ",".join(sorted([*counting, name]))
        by = {"number": f"{number:,}", "students": counted(present, "student")}
        yield Notice("few-handed-in", notebook=name, due=due, **by)
    for column in table.columns:
        number = sum(column.notebook in notebooks for notebooks in came)
        if 2 * number < present:
            yield Notice(
                "few-count",
                notebook=column.notebook,
                number=f"{number:,}",
                students=counted(present, "student"),
                points=points_text(column.max_points),
            )


def _write_junit(path: Path, table: Table, results: Results) -> None:
    with (
        whole_file(path) as file,
        TemporaryFile(dir=path.parent) as waiting,
        junit.suites_in(file, waiting) as add_suite,
    ):
        for row in table.rows:
            flags = [f"{kind}: {number}" for kind, number in sorted(Counter(row.flags).items())]
            cases = _cases(row, lines_of(row, results))
            add_suite(junit.suite(row.student.id or "(no id)", cases, flags))


def _cases(row: Row, lines: Lines) -> Iterator[Element]:
    """A testcase for each gradient of each file that counts; times are left out.

    A notebook that is missing is skipped, one that cannot be read is in error: no student is
    without a testcase.
    """
    for cell in row.cells:
        line = lines[cell.counts.id] if cell.counts else None
        if line and line.report and line.report.verdicts:
            for verdict in line.report.verdicts:
                yield junit.verdict_case(line.report.notebook, verdict)
        else:
            said = cell.unreadable[0].error if cell.unreadable else str(cell.status)
            absent = "error" if cell.status is Status.UNREADABLE else "skipped"
            yield junit.case(cell.column.notebook, "can be graded", absent, said)
    for file in row.elsewhere:
        if file.error:
            yield junit.case(file.path, "can be graded", "error", file.error)


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
