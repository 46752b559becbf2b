"""The submitted files as a table, with a row for each line of the results."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from itertools import islice
from typing import Any

import polars as pl

from grader.classroom.gradebook.codes import LETTERS, NOTHING
from grader.classroom.gradebook.lost_work import why_lost
from grader.classroom.intake.class_folder import ClassFolder
from grader.classroom.run.line import Brief
from grader.classroom.run.results import Results
from grader.classroom.run.settings import Versions
from grader.program.course import Course

FILE: dict[str, pl.DataType | type[pl.DataType]] = {
    **dict.fromkeys(("id", "student", "path", "notebook"), pl.String),
    **dict.fromkeys(("outcomes", "error", "lost", "submitted"), pl.String),
    "late": pl.Boolean,
    "attempt": pl.Int64,
    **dict.fromkeys(("moment", "modified"), pl.Float64),
    "flags": pl.List(pl.String()),
}
"""The fields of a line that the table keeps; the rest is read again when needed.

`notebook` is "" if the file could not be graded and its name does not tell. `outcomes` has a letter
for each gradient of the notebook. `error` is the sentence that says why a file could not be graded,
and `lost` the code that says why next to nothing in it counts. `moment` is `submitted` in
seconds."""

_AT_ONCE = 5_000
"""The number of lines that are in memory as Python objects at one time."""


def files_in(
    results: Results,
    class_folder: ClassFolder,
    course: Course,
    sandboxes: Counter[str],
    versions: set[Versions],
) -> pl.DataFrame:
    """Read the files, and count the sandboxes and the versions with which they were graded.

    Raises:
        BrokenResults: a line of the results is not a result.
    """
    modified = {file.id: file.modified for file in class_folder.handed_in}

    def rows() -> Iterator[tuple[Any, ...]]:
        for line in results.briefs():
            sandboxes[line.run.sandbox] += line.error is None
            versions.add(line.run.versions)
            yield *_row(line, course, modified.get(line.id)), [flag.kind for flag in line.flags]

    left, made = rows(), [pl.DataFrame(schema=FILE)]
    while some := list(islice(left, _AT_ONCE)):
        made.append(pl.DataFrame(some, FILE, orient="row"))
    return pl.concat(made)


def _row(line: Brief, course: Course, modified: float | None) -> tuple[Any, ...]:
    path = line.id if line.file == line.id else line.file
    notebook = line.notebook or _notebook_of(path.rpartition("/")[2], course)
    letters = {gradient.name: LETTERS[gradient.verdict] for gradient in line.gradients}
    asked = course.gradients(notebook) if notebook in course.notebooks else ()
    outcomes = "".join(letters.get(gradient, NOTHING) for _, gradient in asked)
    moment = datetime.fromisoformat(line.submitted).timestamp() if line.submitted else None
    words = outcomes, line.error or "", why_lost(line.gradients), line.submitted
    times = line.late, line.attempt, moment, modified
    return line.id, line.student, path, notebook, *words, *times


def _notebook_of(name: str, course: Course) -> str:
    """The notebook to which a file belongs by its name; "" if the name does not tell."""
    return next((book for book in course.notebooks if _plain(book) in _plain(name)), "")


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", name.lower())
