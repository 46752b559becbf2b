"""`grader compare`: what is different between two gradebooks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from grader.classroom.gradebook.adjustments import ADJUSTMENTS
from grader.classroom.gradebook.make_cell import Attempts
from grader.classroom.gradebook.read_grades import read_grades, refuse_other_course
from grader.classroom.intake.class_folder import Student
from grader.commands.class_options import (
    adjustments_of,
    attempts_option,
    due_notebooks_option,
    read_due_rubric,
)
from grader.commands.course import class_course_option, instructors_course
from grader.commands.extras import require
from grader.commands.options import FILE, PathTo
from grader.commands.speech import say, say_sentences
from grader.program.course import Course


@click.command()
@click.argument("old", metavar="OLD", type=PathTo())
@click.argument("new", metavar="NEW", type=PathTo())
@click.option("--rubric", type=FILE, help="The rubric of both gradebooks, if they have one.")
@due_notebooks_option
@attempts_option
@click.option(
    "--adjustments",
    type=FILE,
    help="What you decided about single students of both gradebooks. Without it, each one's own "
    f"{ADJUSTMENTS}, if there is one.",
)
@class_course_option
@click.option("--all", "everything", is_flag=True, help="List all students and all mistakes.")
@click.option("--json", "json_", is_flag=True, help="Print JSON.")
def compare(
    old: Path,
    new: Path,
    rubric: Path | None,
    due_notebooks: str | None,
    attempts: str,
    adjustments: Path | None,
    course: str | None,
    everything: bool,
    json_: bool,
) -> None:
    """Compare two gradebooks: who moved, which mistakes went, which came.

    OLD and NEW are folders that `grader grade` wrote, of one class before and after a lecture, or
    of two classes: students are known by their ids. Nothing is graded and nothing written. Points
    are those of the verdicts, the rubric and your adjustments: give the options that
    `grader grade` was given.

    The exit code is 0, whatever changed; 2 if one of them is no gradebook.
    """
    require("grade", "grader compare")
    from grader.classroom.gradebook import comparison, comparison_text

    asked = instructors_course(course)
    points = read_due_rubric(rubric, due_notebooks, asked)
    books = [
        comparison.read_book(
            folder,
            points,
            Attempts(attempts),
            adjustments_of(folder, adjustments, asked, _students(folder, asked)),
        )
        for folder in (old, new)
    ]
    found = comparison.compare(*books)
    if json_:
        say(comparison_text.as_json(found))
    else:
        say_sentences(comparison_text.as_text(found, everything))


def _students(gradebook: Path, course: Course) -> Iterator[Student]:
    """Who is in a gradebook of this course, as its table says; read only for adjustments."""
    grades = read_grades(gradebook)
    refuse_other_course(gradebook, grades.most, course)
    yield from (row.student for row in grades.rows)
