"""The options of `grader grade` that say who is in the class and what the work is worth."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

import click

from grader.classroom.gradebook.adjustments import (
    ADJUSTMENTS,
    NONE,
    Adjustments,
    read_adjustments,
    read_due,
)
from grader.classroom.gradebook.platform_form import (
    PlatformForm,
    Scale,
    is_column,
    read_scale,
    refuse_unknown_columns,
)
from grader.classroom.gradebook.rubric import Rubric, read_rubric
from grader.classroom.intake.class_folder import Roster, Student
from grader.classroom.intake.roster_file import ROLES
from grader.commands.course import course_notebook
from grader.commands.options import FILE, said_by
from grader.printable import listed, printable
from grader.program.course import Course

F = TypeVar("F", bound=Callable[..., Any])


def _roles(text: str) -> dict[str, str]:
    (cells,) = csv.reader([" ".join(text.splitlines())])
    pairs = [cell.partition("=") for cell in cells or [""]]
    for role, _, column in pairs:
        if role.strip().lower() not in ROLES or not column.strip():
            raise ValueError(
                f"{printable(role)!r} says of no column what it is: write id=COLUMN or "
                f"id=COLUMN,name=COLUMN; there are {listed(ROLES)}."
            )
    columns = {role.strip().lower(): column.strip() for role, _, column in pairs}
    if len(columns) < len(pairs):
        raise ValueError(f"{printable(text)!r} names several columns for one role.")
    return columns


def platform_form_of(
    scale: Scale, canvas_columns: Iterable[str], course: Course, roster: Roster | None
) -> PlatformForm:
    """Read how to write the files for the platforms.

    Raises:
        UnknownColumn: Canvas has no such column, or the column cannot take the points.
        UserError: there is no notebook of that name.
        click.UsageError: a notebook was named twice.
    """
    columns: dict[str, str] = {}
    for text in canvas_columns:
        notebook, sign, column = text.partition("=")
        whose = ""
        if sign and not is_column(text, roster):  # a column's name may have this sign in it
            whose = course_notebook(notebook, course, "--canvas-column")
        if whose in columns:
            raise click.UsageError(
                f"--canvas-column: {whose or 'all notebooks'} cannot go into two columns."
            )
        columns[whose] = (column if whose else "") or text
    form = PlatformForm(scale, columns)
    refuse_unknown_columns(form, roster)
    return form


def read_due_rubric(
    rubric: Path | None, due_notebooks: str | None, course: Course, due: datetime | None = None
) -> Rubric:
    """Read the rubric, with the due date of each notebook that has one.

    Raises:
        UnusableRubric: the rubric cannot be used.
        UserError: there is no notebook of that name.
    """
    found = replace(read_rubric(rubric, course), due=due)
    if due_notebooks is None:
        return found
    named = {course_notebook(each, course, "--due-notebooks") for each in due_notebooks.split(",")}
    return replace(found, notebooks=tuple(name for name in course.notebooks if name in named))


def adjustments_of(
    gradebook: Path, named: Path | None, course: Course, students: Iterable[Student]
) -> Adjustments:
    """Read the instructor's adjustments from the named file, or else from the gradebook's own.

    Raises:
        UnusableAdjustment: a line of the file cannot be used.
    """
    path = named or gradebook / ADJUSTMENTS
    if named is None and not path.exists():
        return NONE
    return read_adjustments(path, course, students)


_OPTIONS = (
    click.option(
        "--roster",
        type=FILE,
        help="The class list, as Canvas, Moodle, Gradescope, nbgrader or GitHub Classroom export "
        "it, or one id a line: who handed in nothing gets a row too.",
    ),
    click.option(
        "--roster-columns",
        metavar="ROLE=COLUMN,...",
        callback=said_by(_roles),
        help="Which column of the class list is which, where its header does not say so: "
        "id=Kennung,name=Wer, or by number, id=1,name=2. "
        "ROLE is id, login, sis, email, name, first, last or participant.",
    ),
    click.option(
        "--yes",
        is_flag=True,
        help="Go on, even if fewer than half of those who handed in are in the class list.",
    ),
    click.option(
        "--due",
        metavar="WHEN",
        callback=said_by(read_due),
        help="What was handed in later is marked late: 2026-11-20 (the whole day), "
        "2026-11-20T18:00.",
    ),
    click.option(
        "--file-times",
        is_flag=True,
        help="Where the folder does not say when a file was handed in, take the file's own time.",
    ),
    click.option(
        "--due-notebooks",
        metavar="NOTEBOOK,...",
        help="The notebooks that count, such as 01,02: the columns of the gradebook.",
    ),
    click.option(
        "--attempts",
        type=click.Choice(["latest", "best", "first"]),
        default="latest",
        show_default=True,
        help="Which of several files of one student for one notebook counts.",
    ),
    click.option(
        "--adjustments",
        type=FILE,
        help="What you decided about single students (CSV): points, extensions, excuses. Without "
        f"it, DIR/{ADJUSTMENTS}, if there is one. It regrades nothing.",
    ),
    click.option(
        "--rubric",
        type=FILE,
        help="Points for each gradient (TOML). Another rubric regrades nothing.",
    ),
    click.option(
        "--example-rubric",
        is_flag=True,
        help="Print the course's rubric to edit, and grade nothing.",
    ),
    click.option(
        "--scale",
        metavar="TO",
        default="platform",
        show_default=True,
        callback=said_by(read_scale),
        help="What grades are scaled to: the maximum of the platform's own column (platform), a "
        "number, or nothing (none).",
    ),
    click.option(
        "--canvas-column",
        metavar="[NOTEBOOK=]COLUMN",
        multiple=True,
        help="The column of Canvas's gradebook that the points go into, those of all notebooks or "
        "of one: 'HW 1', or 01='HW 1'.",
    ),
)


def class_options(command: F) -> F:
    """Add all options of `grader grade` about the class."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command
