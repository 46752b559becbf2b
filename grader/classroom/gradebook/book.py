"""The gradebook of a class: its tables, and the rows that files and pages are made of."""

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
"""A student's row, one of its cells, or a file handed in, by the names of the columns."""

Cell = tuple[int, str]
"""A student's place, and a notebook."""


@dataclass(frozen=True, slots=True)
class Book:
    """The gradebook of a class, and what it was made from.

    `columns` are the notebooks that count, each with the most it earns; `handed_in` says of each
    notebook how many of the `present` students handed it in. `student` in the tables is a place
    among the `students`, and points there are in units.
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
    """A row for each student and notebook, the students in order."""
    people: pl.DataFrame
    """A row for each student: the sums of the cells, and the files, those that count first."""
    set_points: Mapping[Cell, Mapping[str, Fraction]]
    """The points of gradients that the instructor set."""
    awarded: Awarded
    """Out of how many points the instructor's own were given, by `Change.key`."""
    sandboxes: Mapping[str, int]
    """How many files were graded in each sandbox."""
    versions: frozenset[Versions]

    @property
    def max_points(self) -> Fraction:
        """The most that a student can earn of whom all notebooks count."""
        return sum(self.columns.values(), Fraction(0))

    def gradients(self, notebook: str) -> list[str]:
        """The gradients of a notebook, from the loss down."""
        return [name for _, name in self.rubric.course.gradients(notebook)]

    def ids(self, which: pl.Expr) -> list[str]:
        """The students of whom something is true in `people`."""
        return [self.students[place].id for place in self.people.filter(which)["student"]]

    def rows(self) -> Iterator[Record]:
        """The students' rows, each with its cells and files; points are exact numbers here.

        Of a cell, `counts` is the file that counts, if any, and the others are `superseded`, or
        `unreadable` where they could not be graded. A row has the files that belong to no notebook
        `elsewhere`.
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
    """The file with the `name` that its owner knows: folders may hold others' names."""
    return file | {"name": file["path"].rpartition("/")[2]}


def exact(record: Record, *names: str) -> Record:
    """The record with these points as exact numbers, in the place of units."""
    for name in names:
        if record[name] is not None:
            record[name] = Fraction(record[name], UNIT)
    return record
