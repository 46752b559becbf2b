"""The table, made from the results of a run."""

from __future__ import annotations

import math
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from fractions import Fraction
from operator import attrgetter
from pathlib import Path

from grader.classroom.gradebook.adjustments import (
    NONE,
    NONE_AWARDED,
    Adjustments,
    Awarded,
    in_share,
    out_of,
    refuse,
    unfit,
)
from grader.classroom.gradebook.lost_work import why_lost
from grader.classroom.gradebook.make_cell import Attempts, files_named, make_cell, no_attempt
from grader.classroom.gradebook.platform_form import column_for
from grader.classroom.gradebook.report.pages import page_name
from grader.classroom.gradebook.rubric import Rubric
from grader.classroom.gradebook.table import LETTERS, OUTCOMES, Column, FileResult, Row, Table
from grader.classroom.intake.class_folder import ClassFolder, HandedIn, Student
from grader.classroom.run.line import Brief
from grader.classroom.run.results import Results
from grader.printable import printable
from grader.program.course import Course


def build_table(
    class_folder: ClassFolder,
    results: Path,
    rubric: Rubric,
    attempts: Attempts = Attempts.LATEST,
    adjustments: Adjustments = NONE,
    due: Collection[str] = (),
) -> Table:
    """Everybody of the class list and everybody seen in the results, each in a row.

    Unless the rubric says which notebooks count, those do that at least half of those who handed in
    anything did, and those that the class list has a column for, or an adjustment is about.

    Args:
        class_folder: who is in the class.
        results: those of a run that has finished: they hold a line for each file handed in, which
            says what the folder says of it now.
        rubric: what gradients are worth.
        attempts: which of several files counts.
        adjustments: what the instructor decided, applied last.
        due: notebooks that count in any case.

    Raises:
        UnusableAdjustment: a line of them does not fit what was handed in.
        BrokenResults: a line of `results` is not a result.
        OSError: it cannot be read.
    """
    files: dict[str, FileResult] = {}
    sandboxes: Counter[str] = Counter()
    versions = set()
    same: dict[tuple[str, ...], tuple[str, ...]] = {}
    """Equal lists of names kept once: they would be most of a class."""
    modified = {file.id: file.modified for file in class_folder.handed_in}
    with Results(results) as opened:
        awarded = _awarded(opened)
        for line in opened.briefs():
            file = _file_result(line, same, rubric.course, modified.get(line.id))
            files[file.id] = file
            sandboxes[line.run.sandbox] += line.error is None
            versions.add(line.run.versions)
    of_student: dict[str, list[FileResult]] = defaultdict(list)
    for file in files.values():
        of_student[file.student].append(file)
    known = {student.id: student for student in class_folder.students}
    changed = [change for changes in adjustments.values() for change in changes]
    named = {*due, *(change.notebook for change in changed)}
    if roster := class_folder.roster:
        every = rubric.course.notebooks
        named |= {name for name in every if column_for(name, roster) in roster.header}
    names, left_out = _due(files.values(), rubric, named)
    columns = tuple(_column(name, rubric) for name in names)
    most = {column.notebook: column.max_points for column in columns}
    refuse(
        [f"{each.where}: {why}" for each in changed if (why := unfit(each, most, rubric, awarded))]
    )
    awarded = {
        change.key: awarded.get(change.key) or out_of(change, most, rubric)
        for change in changed
        if change.points is not None
    }

    def row(id_: str) -> Row:
        by_notebook: dict[str, list[FileResult]] = defaultdict(list)
        for file in sorted(of_student[id_], key=attrgetter("id")):
            by_notebook[file.notebook].append(file)
        changes = [in_share(each, most, rubric, awarded) for each in adjustments.get(id_, ())]
        cells = tuple(
            make_cell(column, by_notebook.pop(column.notebook, []), rubric, attempts, changes)
            for column in columns
        )
        elsewhere = tuple(file for _, group in sorted(by_notebook.items()) for file in group)
        comments = tuple(each.comment for each in changes if each.comment and not each.notebook)
        return Row(known.get(id_, Student(id_)), page_name(id_), cells, elsewhere, comments)

    rows = tuple(map(row, sorted({*known, *of_student})))
    counts = dict(sorted((+sandboxes).items()))
    return Table(columns, rows, counts, frozenset(versions), left_out, awarded)


def awarded_in(results: Path) -> Awarded:
    """Out of how many points the instructor's own were given in an earlier run, if any."""
    if not results.is_file():
        return {}
    with Results(results) as opened:
        return _awarded(opened)


def _awarded(results: Results) -> Awarded:
    return {key: Fraction(out) for key, out in results.book("award")}


def refuse_early(
    adjustments: Adjustments,
    rubric: Rubric,
    handed_in: Iterable[HandedIn],
    awarded: Awarded = NONE_AWARDED,
) -> None:
    """Raise UnusableAdjustment, before anything is graded, where a line cannot apply in any case.

    Which notebook a file is only grading tells: what depends on that, `build_table` refuses.
    """
    notebooks = rubric.notebooks or rubric.course.notebooks
    most = {notebook: rubric.most(notebook) for notebook in notebooks}
    files: dict[str, list[HandedIn]] = defaultdict(list)
    for file in handed_in:
        files[file.student].append(file)
    complaints = []
    for change in (each for changes in adjustments.values() for each in changes):
        # Points without a notebook are those of the only one that was handed in, perhaps.
        known = change.notebook or rubric.notebooks
        if known and (why := unfit(change, most, rubric, awarded)):
            complaints.append(f"{change.where}: {why}")
        elif change.attempt and not files_named(files[change.student], change):
            there = [printable(file.path) for file in files[change.student]]
            complaints.append(no_attempt(change, there))
    refuse(complaints)


def _file_result(
    line: Brief,
    same: dict[tuple[str, ...], tuple[str, ...]],
    course: Course,
    modified: float | None,
) -> FileResult:
    """What a table keeps of a line; equal texts are kept once."""
    gradients = tuple(gradient.name for gradient in line.gradients)
    return FileResult(
        id=line.id,
        student=sys.intern(line.student),
        path=line.id if line.file == line.id else line.file,
        late=line.late,
        submitted=line.submitted,
        attempt=line.attempt,
        modified=modified,
        notebook=sys.intern(line.notebook or _notebook_of(line.file, course)),
        gradients=same.setdefault(gradients, gradients),
        outcomes="".join(LETTERS[gradient.verdict] for gradient in line.gradients),
        error=line.error or "",
        flags=tuple(sys.intern(flag.kind) for flag in line.flags),
        lost=why_lost(line.gradients),
    )


def _notebook_of(file: str, course: Course) -> str:
    """The notebook that a file says it is by its name, "" if none."""
    name = _plain(file.rpartition("/")[2])
    return next((notebook for notebook in course.notebooks if _plain(notebook) in name), "")


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", name.lower())


def _due(
    files: Iterable[FileResult], rubric: Rubric, named: Collection[str]
) -> tuple[Sequence[str], tuple[str, ...]]:
    """The notebooks that count, and those that somebody handed in all the same.

    They are the rubric's, or else those that were named or at least half of the students who
    handed in any did, or else those that somebody handed in, or else all.
    """
    if rubric.notebooks:
        return rubric.notebooks, ()
    students = defaultdict(set)
    for file in files:
        students[file.notebook].add(file.student)
    every = rubric.course.notebooks
    seen = [name for name in every if name in students]
    present = len(set[str]().union(*(students[name] for name in seen)))
    due = [name for name in seen if name in named or 2 * len(students[name]) >= present] or seen
    return due or every, tuple(name for name in seen if name not in due)


def _column(notebook: str, rubric: Rubric) -> Column:
    known = rubric.course.gradients(notebook)
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
        rubric.most(notebook),
        {key: int(points * parts) for key, points in earned.items()},
        parts,
    )
