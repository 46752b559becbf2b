"""The gradebook, written: tables, test results, and the report with a page for each student."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from grader.gradebook.class_page import class_page
from grader.gradebook.class_summary import ClassSummary
from grader.gradebook.grades_csv import write_grades
from grader.gradebook.junit_file import JunitFile
from grader.gradebook.pages import GENERATOR
from grader.gradebook.platform_csv import write_canvas, write_moodle
from grader.gradebook.results_file import GradedFile, flags_of, graded_file, read_line_at
from grader.gradebook.rubric import Rubric
from grader.gradebook.student_page import GradedFiles, student_page
from grader.gradebook.table import Row, Table, build_table
from grader.gradebook.whole_file import whole_file, write_text
from grader.intake.class_folder import ClassFolder
from grader.verdict import Flag

REPORT, STUDENTS = "report", "students"


@dataclass(frozen=True, slots=True)
class Gradebook:
    """What was written: the table, and where the report begins."""

    table: Table
    index: Path


def write_gradebook(
    class_folder: ClassFolder,
    results: Path,
    rubric: Rubric | None,
    out: Path,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Gradebook:
    """Write `grades.csv`, `canvas.csv`, `moodle.csv`, `junit.xml` and `report/` into a folder.

    Each file is replaced as a whole, the report's first page last. The same results give the same
    bytes, in whatever order they were found. Of the results only what a table needs is kept in
    memory; each student's lines are read again for the student's page.

    Args:
        class_folder: who is in the class, and what was handed in.
        results: the run's `results.jsonl`.
        rubric: None for the contract's points.
        out: the folder; it is made where it is not there.
        progress: called with how many students are done, of how many.

    Raises:
        UnreadableResults: a line of `results` is not a result; nothing has been written.
        OSError: a file cannot be written; what was there before still is.
    """
    rubric = rubric or Rubric()
    table = build_table(class_folder, results, rubric)
    students = out / REPORT / STUDENTS
    students.mkdir(parents=True, exist_ok=True)
    write_grades(table, out / "grades.csv")
    write_canvas(table, class_folder, out / "canvas.csv")
    write_moodle(table, class_folder, out / "moodle.csv")
    summary = ClassSummary()
    with results.open("rb") as journal, whole_file(out / "junit.xml") as file:
        junit = JunitFile(file, table)
        for done, row in enumerate(table.rows, start=1):
            graded, flags = _read_again(row, journal)
            write_text(students / row.page, student_page(row, table, graded, rubric))
            junit.add(row, graded)
            summary.add(row, graded, flags)
            progress(done, len(table.rows))
        junit.close()
    index = out / REPORT / "index.html"
    title = class_folder.root.resolve().name or "Class"
    write_text(index, class_page(table, summary, title, class_folder.notices))
    _remove_others(students, {row.page for row in table.rows})
    return Gradebook(table, index)


def _read_again(row: Row, journal: BinaryIO) -> tuple[GradedFiles, dict[str, Sequence[Flag]]]:
    """A student's files that count, and the flags of all files."""
    counting = {cell.counts.id for cell in row.cells if cell.counts}
    graded: dict[str, GradedFile] = {}
    flags: dict[str, Sequence[Flag]] = {}
    for file in row.files:
        if file.id in counting or file.flags:
            line = read_line_at(journal, file.offset)
            flags[file.id] = flags_of(line)
            if file.id in counting:
                graded[file.id] = graded_file(line)
    return graded, flags


def _remove_others(folder: Path, pages: Collection[str]) -> None:
    """Delete pages of an earlier gradebook, of students who are no longer in the class."""
    for path in sorted(folder.glob("*.html")):
        if path.name not in pages and GENERATOR in path.read_text("utf-8", "replace")[:1_000]:
            path.unlink()
