"""The class as a table: a row a student, a cell a notebook."""

from __future__ import annotations

import math
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from fractions import Fraction
from pathlib import Path

from grader.classroom.gradebook.pages import page_name
from grader.classroom.gradebook.rubric import Rubric
from grader.classroom.intake.class_folder import ClassFolder, HandedIn, Student
from grader.classroom.run.journal import read_lines
from grader.classroom.run.line import Line
from grader.classroom.run.settings import Versions
from grader.program.course import Course
from grader.verdict import Outcome

LETTERS = {outcome: outcome.value[0] for outcome in Outcome}
"""A letter for each outcome, so that the outcomes of a whole class are a few short strings."""
OUTCOMES = {letter: outcome for outcome, letter in LETTERS.items()}


class Status(StrEnum):
    """What became of a student's notebook, the best first."""

    GRADED = "graded"
    LATE = "late"
    """Graded, and late."""
    UNREADABLE = "unreadable"
    MISSING = "missing"


@dataclass(frozen=True, slots=True)
class Column:
    """A notebook with its gradients, each with its exercise's prefix, and the most it earns."""

    notebook: str
    gradients: tuple[tuple[str, str], ...]
    max_points: Fraction
    earned: Mapping[tuple[str, str], int]
    """What a gradient's name with the letter of its outcome earns, in `parts` of a point."""
    parts: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FileResult(HandedIn):
    """What the table keeps of a line of the results; the rest is read again where it is needed.

    `notebook` is "" where the file could not be graded and its name does not tell; `error` is the
    sentence why, "" for a graded file. `outcomes` has a letter for each of `gradients`. `offset`
    is where its line begins.
    """

    notebook: str
    gradients: tuple[str, ...]
    outcomes: str
    error: str
    flags: tuple[str, ...]
    offset: int

    @property
    def name(self) -> str:
        """The file as its owner knows it: without the folders, which may hold others' names."""
        return self.path.rpartition("/")[2]

    @property
    def newness(self) -> tuple[int, float, str]:
        """The newest of several files is the one where this is greatest; no time counts as old."""
        submitted = datetime.fromisoformat(self.submitted).timestamp() if self.submitted else 0.0
        return self.attempt, submitted, self.id


@dataclass(frozen=True, slots=True)
class Cell:
    """A student's notebook: the file that counts, if any, and the others.

    `superseded` are older files that were graded, `unreadable` those that could not be.
    """

    column: Column
    status: Status
    points: Fraction
    counts: FileResult | None = None
    superseded: tuple[FileResult, ...] = ()
    unreadable: tuple[FileResult, ...] = ()


@dataclass(frozen=True, slots=True)
class Row:
    """A student: a cell for each column, and the files that belong to none.

    `elsewhere` could not be graded and do not say by their names what they were to be, or are no
    column of this gradebook.
    """

    student: Student
    page: str
    cells: tuple[Cell, ...]
    elsewhere: tuple[FileResult, ...] = ()

    @property
    def points(self) -> Fraction:
        """What all notebooks earn together."""
        return sum((cell.points for cell in self.cells), Fraction(0))

    @property
    def max_points(self) -> Fraction:
        """The most that all notebooks can earn."""
        return sum((cell.column.max_points for cell in self.cells), Fraction(0))

    @property
    def files(self) -> tuple[FileResult, ...]:
        """Everything that was handed in and looked at."""
        graded = tuple(
            file
            for cell in self.cells
            for file in ((cell.counts,) if cell.counts else ()) + cell.superseded + cell.unreadable
        )
        return graded + self.elsewhere

    @property
    def flags(self) -> tuple[str, ...]:
        """The kinds of all flags, of older files as well: a human should see those too."""
        return tuple(kind for file in self.files for kind in file.flags)

    @property
    def status(self) -> Status:
        """The worst of the notebooks that say anything; `missing` only where nothing came."""
        if any(cell.counts for cell in self.cells):
            late = any(cell.status is Status.LATE for cell in self.cells)
            return Status.LATE if late else Status.GRADED
        if any(file.error for file in self.files):
            return Status.UNREADABLE
        return Status.MISSING

    @property
    def graded(self) -> bool:
        """True if at least one notebook counts."""
        return any(cell.counts for cell in self.cells)


@dataclass(frozen=True, slots=True)
class Table:
    """The whole class, sorted by the students' ids."""

    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    sandboxes: Mapping[str, int]
    """How many files were graded in each sandbox."""
    versions: frozenset[Versions]


def build_table(class_folder: ClassFolder, results: Path, rubric: Rubric) -> Table:
    """Everybody of the class list and everybody seen in the results, each in a row.

    `results` are those of a run that has finished: they hold a line for each file handed in, which
    says what the folder says of it now.

    Raises:
        BrokenJournal: a line of `results` is not a result.
        OSError: it cannot be read.
    """
    files: dict[str, FileResult] = {}
    sandboxes: Counter[str] = Counter()
    versions = set()
    same: dict[tuple[str, ...], tuple[str, ...]] = {}
    """Equal lists of names kept once: they would be most of a class."""
    for offset, _, line in read_lines(results):
        files[line.file.id] = _file_result(line, offset, same, rubric.course)
        sandboxes[line.run.sandbox] += 1
        versions.add(line.run.versions)
    of_student: dict[str, list[FileResult]] = defaultdict(list)
    for file in files.values():
        of_student[file.student].append(file)
    listed = {student.id: student for student in class_folder.students}
    columns = _columns(files.values(), rubric)
    rows = tuple(
        _row(listed.get(id_, Student(id_)), columns, of_student[id_], rubric)
        for id_ in sorted({*listed, *of_student})
    )
    return Table(columns, rows, dict(sorted(sandboxes.items())), frozenset(versions))


def _file_result(
    line: Line, offset: int, same: dict[tuple[str, ...], tuple[str, ...]], course: Course
) -> FileResult:
    """What a table keeps of a line; equal texts are kept once."""
    file, report = line.file, line.report
    verdicts = report.verdicts if report else ()
    gradients = tuple(verdict.name for verdict in verdicts)
    return FileResult(
        id=file.id,
        student=sys.intern(file.student),
        path=file.id if file.path == file.id else file.path,
        late=file.late,
        submitted=file.submitted,
        attempt=file.attempt,
        notebook=sys.intern(report.notebook if report else _notebook_of(file.path, course)),
        gradients=same.setdefault(gradients, gradients),
        outcomes="".join(LETTERS[verdict.outcome] for verdict in verdicts),
        error=line.error or "",
        flags=tuple(sys.intern(flag.kind) for flag in line.flags),
        offset=offset,
    )


def _notebook_of(file: str, course: Course) -> str:
    """The notebook that a file says it is by its name, "" if none."""
    name = _plain(file.rpartition("/")[2])
    return next((notebook for notebook in course.notebooks if _plain(notebook) in name), "")


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", name.lower())


def _columns(files: Iterable[FileResult], rubric: Rubric) -> tuple[Column, ...]:
    """The rubric's notebooks, or else those that somebody handed in, or else all."""
    seen = {file.notebook for file in files}
    every = rubric.course.notebooks
    names = rubric.notebooks or [name for name in every if name in seen] or every
    return tuple(_column(name, rubric) for name in names)


def _column(notebook: str, rubric: Rubric) -> Column:
    known = rubric.course.gradients(notebook)
    worth = (rubric.worth(prefix, gradient) for prefix, gradient in known)
    earned = {
        (gradient, letter): rubric.earned(prefix, gradient, outcome)
        for prefix, gradient in known
        for letter, outcome in OUTCOMES.items()
    }
    # Whole numbers: sums of fractions are what a large class would spend its time on.
    parts = math.lcm(*(points.denominator for points in earned.values()))
    return Column(
        notebook,
        known,
        rubric.total(sum(worth, Fraction(0)), late=False),
        {key: int(points * parts) for key, points in earned.items()},
        parts,
    )


def _row(
    student: Student, columns: Sequence[Column], files: Sequence[FileResult], rubric: Rubric
) -> Row:
    by_notebook: dict[str, list[FileResult]] = defaultdict(list)
    for file in sorted(files, key=lambda file: file.newness, reverse=True):
        by_notebook[file.notebook].append(file)
    cells = tuple(_cell(column, by_notebook.pop(column.notebook, []), rubric) for column in columns)
    elsewhere = tuple(file for _, group in sorted(by_notebook.items()) for file in group)
    return Row(student, page_name(student.id), cells, elsewhere)


def _cell(column: Column, files: Sequence[FileResult], rubric: Rubric) -> Cell:
    """One cell, from the files of that notebook, the newest first."""
    unreadable = tuple(file for file in files if file.error)
    graded = [file for file in files if not file.error]
    if not graded:
        status = Status.UNREADABLE if unreadable else Status.MISSING
        return Cell(column, status, Fraction(0), unreadable=unreadable)
    newest, *older = graded
    return Cell(
        column,
        Status.LATE if newest.late else Status.GRADED,
        rubric.total(_earned(newest, column), newest.late),
        newest,
        tuple(older),
        unreadable,
    )


def _earned(file: FileResult, column: Column) -> Fraction:
    verdicts = zip(file.gradients, file.outcomes, strict=True)
    return Fraction(sum(column.earned.get(verdict, 0) for verdict in verdicts), column.parts)
