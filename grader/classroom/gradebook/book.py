"""The gradebook of a class: its tables, and the rows from which files and pages are made."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from pathlib import Path
from typing import Any

import polars as pl

from grader.classroom.gradebook.cells import UNIT
from grader.classroom.gradebook.codes import EARNED_NOTHING, Role
from grader.classroom.gradebook.fitting import Awarded
from grader.classroom.gradebook.platform_form import PlatformForm
from grader.classroom.gradebook.rubric import Rubric
from grader.classroom.intake.class_folder import ClassFolder, Student
from grader.classroom.run.settings import Versions

Record = dict[str, Any]
"""A student's row, one of its cells, or a submitted file, keyed by column."""

Cell = tuple[int, str]
"""The index of a student, and a notebook."""


@dataclass(frozen=True, slots=True)
class Book:
    """The gradebook of a class, and what it was made from.

    `columns` maps the notebooks that count to the most points that each can earn. `handed_in` says,
    for each notebook, how many of the `present` students handed it in. In the tables, `student` is
    an index into `students`, and points are in units.
    """

    class_folder: ClassFolder
    results: Path
    rubric: Rubric
    form: PlatformForm
    students: Sequence[Student]
    columns: Mapping[str, Fraction]
    handed_in: Mapping[str, int]
    present: int
    cells: pl.DataFrame
    """One row for each student and notebook, in the order of the students."""
    people: pl.DataFrame
    """One row for each student: the sums of the cells, and the files, those that count first."""
    set_points: Mapping[Cell, Mapping[str, Fraction]]
    """The points of gradients that the instructor has set."""
    awarded: Awarded
    """The maximum out of which the instructor gave points, by `Change.key`."""
    sandboxes: Mapping[str, int]
    """The number of files graded in each sandbox."""
    versions: frozenset[Versions]

    @property
    def max_points(self) -> Fraction:
        """The most points that a student can earn if all notebooks count."""
        return sum(self.columns.values(), Fraction(0))

    def gradients(self, notebook: str) -> list[str]:
        """The gradients of a notebook, from the loss down."""
        return [name for _, name in self.rubric.course.gradients(notebook)]

    def ids(self, which: pl.Expr) -> list[str]:
        """The ids of the students for whom a condition on `people` is true."""
        return [self.students[place].id for place in self.people.filter(which)["student"]]

    def rows(self) -> Iterator[Record]:
        """The students' rows, each with its cells and files. Points are exact numbers here.

        In a cell, `counts` is the file that counts, if any. The others are `superseded`, or
        `unreadable` if they could not be graded. `elsewhere` holds the files of a row that belong
        to no notebook.
        """
        cells = self.cells.iter_rows(named=True)
        for student, row in zip(self.students, self.people.iter_rows(named=True), strict=True):
            files = [_named(exact(file, "earns", "kept")) for file in row["files"]]
            own = [exact(each, "points", "max_points") for each in islice(cells, len(self.columns))]
            for cell in own:
                here = [file for file in files if file["notebook"] == cell["notebook"]]
                cell["counts"] = next((file for file in here if file["role"] == Role.COUNTS), None)
                for role in (Role.SUPERSEDED, Role.UNREADABLE):
                    cell[role.value] = [file for file in here if file["role"] == role]
                cell["set_points"] = self.set_points.get((row["student"], cell["notebook"]), {})
            elsewhere = [file for file in files if file["role"] == Role.ELSEWHERE]
            lost = [file for file in (*elsewhere, *files) if file["earned_nothing"]]
            lost = [*{file["id"]: file for file in lost}.values()]
            yield exact(row, "points", "max_points") | {
                "student": student,
                "cells": own,
                "files": files,
                "elsewhere": elsewhere,
                "flags": [*row["kinds"], *[EARNED_NOTHING] * len(lost)],
                "lost": lost,
            }


def _named(file: Record) -> Record:
    """The file with the `name` that its owner knows, since folders may contain others' names."""
    return file | {"name": file["path"].rpartition("/")[2]}


def exact(record: Record, *names: str) -> Record:
    """The record with these points as exact numbers instead of units."""
    for name in names:
        if record[name] is not None:
            record[name] = Fraction(record[name], UNIT)
    return record
