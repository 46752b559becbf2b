"""Make a gradebook from the results of a run."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path

import polars as pl
from polars import col, lit, when

from grader.classroom.gradebook.adjustments import NONE, Adjustments, Change
from grader.classroom.gradebook.book import Book, Cell, Record, exact
from grader.classroom.gradebook.cells import CELL, DECIDED, GRADED, cells_of, in_order, scored
from grader.classroom.gradebook.codes import FOR_STUDENTS, Attempts, Role, Status
from grader.classroom.gradebook.decided import decide, points_by_gradient, said_of
from grader.classroom.gradebook.files import files_in
from grader.classroom.gradebook.fitting import (
    awarded_in,
    fitted,
    named_file,
)
from grader.classroom.gradebook.platform_form import AS_THEY_ARE, PlatformForm, column_for
from grader.classroom.gradebook.rubric import Rubric
from grader.classroom.intake.class_folder import ClassFolder, HandedIn, Student
from grader.classroom.run.results import Results
from grader.classroom.run.settings import Versions

Held = Mapping[Cell, Sequence[Change]]
"""The instructor's decisions, for each cell that has any."""

TOLD: dict[str, pl.DataType] = {
    "student": pl.UInt32(),
    "notebook": pl.String(),
    "adjusted": pl.List(pl.String()),
    "comments": pl.List(pl.String()),
}
"""The instructor's changes in a cell, in a few words each, and the comments."""


def make_book(
    class_folder: ClassFolder,
    path: Path,
    rubric: Rubric,
    attempts: Attempts = Attempts.LATEST,
    adjustments: Adjustments = NONE,
    form: PlatformForm = AS_THEY_ARE,
) -> Book:
    """Make a gradebook with a row for everybody in the class list or in the results.

    Args:
        class_folder: who is in the class.
        path: the results of a finished run. They hold a line for each submitted file, which agrees
            with the folder as it is now.
        rubric: what gradients are worth.
        attempts: which of several files counts.
        adjustments: the instructor's decisions, which are applied last.
        form: how to write the files for the platforms.

    Raises:
        UnusableAdjustment: an adjustment does not fit what was handed in.
        BrokenResults: a line of the results is not a result.
        OSError: the results cannot be read.
    """
    sandboxes, versions = Counter[str](), set[Versions]()
    with Results(path) as results:
        files = files_in(results, class_folder, rubric.course, sandboxes, versions)
    known = {student.id: student for student in class_folder.students}
    students = [known.get(id_, Student(id_)) for id_ in sorted({*known, *files["student"]})]
    places = {student.id: place for place, student in enumerate(students)}
    whose = pl.Series("student", [places[id_] for id_ in files["student"]], pl.UInt32)
    files = files.with_columns(whose)

    seen = files.select(CELL).filter(col("notebook").is_in(rubric.course.notebooks))
    handed_in = dict(seen.group_by("notebook").agg(col("student").n_unique()).iter_rows())
    handed_in = {name: handed_in[name] for name in rubric.course.notebooks if name in handed_in}
    present = seen["student"].n_unique()
    named = {change.notebook for own in adjustments.values() for change in own}
    due = _due(rubric, handed_in, present, named | {*form.canvas_columns}, class_folder)
    columns = {notebook: rubric.most(notebook) for notebook in due}

    fitting, awarded = fitted(adjustments, columns, rubric, awarded_in(path))
    held = {
        (places[id_], notebook): own
        for id_ in sorted(fitting)
        for notebook in columns
        if (own := [each for each in fitting[id_] if each.notebook in ("", notebook)])
    }
    files, cells = _tables(files, len(students), columns, held, rubric, attempts)
    remarks = {
        places[id_]: [each.comment for each in own if each.comment and not each.notebook]
        for id_, own in adjustments.items()
    }
    return Book(
        class_folder=class_folder,
        results=path,
        rubric=rubric,
        form=form,
        students=students,
        columns=columns,
        handed_in=handed_in,
        present=present,
        cells=cells,
        people=_people(files, cells, columns, remarks),
        set_points={cell: points_by_gradient(own) for cell, own in held.items()},
        awarded=awarded,
        sandboxes=dict(sorted((+sandboxes).items())),
        versions=frozenset(versions),
    )


def _due(
    rubric: Rubric,
    handed_in: Mapping[str, int],
    present: int,
    named: set[str],
    class_folder: ClassFolder,
) -> Sequence[str]:
    """The notebooks that count.

    These are the rubric's. Without them, they are those that were `named`, or that have a column in
    the class list, or that at least half of the active students handed in. Without these, they are
    those that anybody handed in, or else all.
    """
    if rubric.notebooks:
        return rubric.notebooks
    every, roster = rubric.course.notebooks, class_folder.roster
    if roster:
        named |= {name for name in every if column_for(name, roster) in roster.header}
    seen = [name for name in every if name in handed_in]
    due = [name for name in seen if name in named or 2 * handed_in[name] >= present]
    return due or seen or every


def _tables(
    files: pl.DataFrame,
    students: int,
    columns: Mapping[str, Fraction],
    held: Held,
    rubric: Rubric,
    attempts: Attempts,
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The files with their points and roles, and the cells with the adjustments."""
    due = col("notebook").is_in([*columns])
    graded = in_order(files.filter(due, error=""))
    role = when(due).then(lit(Role.UNREADABLE)).otherwise(lit(Role.ELSEWHERE))
    rest = (
        files.filter(~due | (col("error") != ""))
        .with_columns(role=role)
        .drop("moment", "modified", "attempt")
    )

    def corrected(decided: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
        files = pl.concat([scored(graded, decided, rubric, attempts), rest], how="diagonal")
        return files, cells_of(students, columns, files, decided)

    decided = pl.DataFrame(_decisions(held, rubric, graded), DECIDED)
    files, cells = corrected(decided)
    before = corrected(decided.clear())[1] if held else cells
    number = files.filter(role=Role.COUNTS).select(*CELL, "number")
    adjusted = decided.select(CELL)
    for table in (cells, number, before):
        adjusted = adjusted.join(
            table, on=CELL, how="left", maintain_order="left", suffix="_before"
        )
    told = _told(held, adjusted, rubric)
    cells = cells.join(told, on=CELL, how="left", maintain_order="left")
    return files, cells.with_columns(col("adjusted", "comments").fill_null([]))


def _decisions(held: Held, rubric: Rubric, graded: pl.DataFrame) -> list[Record]:
    """A row for each cell on which the instructor has decided."""
    wanting = {where for where, own in held.items() if any(each.attempt for each in own)}
    attempts: dict[Cell, list[HandedIn]] = defaultdict(list)
    if wanting:
        for *where, id_, path in graded.select(*CELL, "id", "path").iter_rows():
            if (cell := tuple(where)) in wanting:
                attempts[cell].append(HandedIn(id_, "", path))
    rows = []
    for cell, changes in held.items():
        row = decide(changes, cell[1], rubric) | dict(zip(CELL, cell, strict=True))
        for change in [change for change in changes if change.attempt][-1:]:
            row["wanted"] = named_file(attempts[cell], change, cell[1]).id
        rows.append(row)
    return rows


def _told(held: Held, cells: pl.DataFrame, rubric: Rubric) -> pl.DataFrame:
    """The changes and comments in each cell of `held`; points are in units."""
    words = []
    for cell, changes in zip(cells.iter_rows(named=True), held.values(), strict=True):
        exact(cell, "points", "points_before")
        names = [name for _, name in rubric.course.gradients(cell["notebook"])]
        adjusted = list(said_of(changes, cell, names))
        comments = [each.comment for each in changes if each.comment and each.notebook]
        words.append((cell["student"], cell["notebook"], adjusted, comments))
    return pl.DataFrame(words, TOLD, orient="row")


def _people(
    files: pl.DataFrame,
    cells: pl.DataFrame,
    columns: Mapping[str, Fraction],
    remarks: Mapping[int, Sequence[str]],
) -> pl.DataFrame:
    """The sum of each student's cells, with the files in the order of the columns."""
    status, is_ = col("status"), {each: (col("status") == each).any() for each in Status}
    sums = cells.group_by("student", maintain_order=True).agg(
        col("points", "max_points").sum(),
        col("graded").any(),
        col("others").sum(),
        late=is_[Status.LATE],
        missing=is_[Status.MISSING],
        partly=(~col("graded") & (status != Status.EXCUSED)).any(),
        status=pl.coalesce(
            *(when(is_[each]).then(lit(each)) for each in (Status.LATE, *GRADED)),
            when((status == Status.EXCUSED).all()).then(lit(Status.EXCUSED)),
            lit(Status.MISSING),
        ),
        adjusted=((col("adjusted").list.len() > 0) | (col("comments").list.len() > 0)).any(),
        untimed=col("untimed").any(),
    )
    untouched = col("adjusted").list.len() == 0
    files = (
        files.join(cells.select(*CELL, "status", "adjusted"), on=CELL, how="left")
        .join(sums.select("student", "missing"), on="student")
        .with_columns(
            kinds=col("flags").list.eval(pl.element().filter(~pl.element().is_in(FOR_STUDENTS))),
            earned_nothing=when(role=Role.COUNTS)
            .then((col("lost") != "") & untouched)
            .when(role=Role.ELSEWHERE)
            .then((col("error") != "") & col("missing"))
            .otherwise((col("role") == Role.UNREADABLE) & (status == Status.UNREADABLE)),
        )
        .sort(
            "student",
            col("notebook").cast(pl.Enum([*columns]), strict=False),
            col("role").cast(pl.Enum(Role)),
            "notebook",
            -col("number"),
            "id",
            nulls_last=True,
        )
        .drop("status", "adjusted", "missing", "number")
    )
    of_files = files.group_by("student", maintain_order=True).agg(
        kinds=col("kinds").explode(empty_as_null=False),
        lost=col("earned_nothing").sum(),
        unreadable=(col("error") != "").sum(),
        files=pl.struct(pl.exclude("student", "kinds")),
    )
    said = {"student": [*remarks], "comments": [*remarks.values()]}
    comments = pl.DataFrame(said, {"student": pl.UInt32, "comments": pl.List(pl.String)})
    people = sums
    for table in (of_files, comments):
        people = people.join(table, on="student", how="left", maintain_order="left")
    people = people.with_columns(
        col("lost", "unreadable").fill_null(0), col("kinds", "files", "comments").fill_null([])
    )
    unread = (status == Status.MISSING) & (col("unreadable") > 0)
    return people.with_columns(
        status=when(unread).then(lit(Status.UNREADABLE)).otherwise(status),
        adjusted=col("adjusted") | (col("comments").list.len() > 0),
        flagged=(col("kinds").list.len() > 0) | (col("lost") > 0),
    )
