"""`grader adjust`: a decision about one student, written beside the gradebook."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from grader.classroom.gradebook.adjustments import (
    ADJUSTMENTS,
    parse_adjustment,
    refuse,
    unfit,
    with_line,
)
from grader.classroom.gradebook.grades_csv import id_cell, text_cell, write_csv
from grader.classroom.gradebook.read_grades import read_grades, refuse_other_course
from grader.classroom.gradebook.rubric import read_rubric
from grader.classroom.intake.class_folder import ClassFolder
from grader.classroom.intake.csv_file import read_csv_file
from grader.classroom.spreadsheet import FOR_EXCEL
from grader.commands.course import class_course_option, instructors_course
from grader.commands.options import FILE, PathTo
from grader.commands.speech import say_sentences
from grader.printable import printable


@click.command()
@click.argument("gradebook", type=PathTo())
@click.argument("id", metavar="ID")
@click.option("--notebook", metavar="NAME", help="Such as 01; without it, all notebooks.")
@click.option("--gradient", metavar="NAME", help="Only this gradient, such as dlogits.")
@click.option("--points", metavar="NUMBER", help="The points, in place of the grader's.")
@click.option("--excused/--not-excused", default=None, help="Whether it does not count at all.")
@click.option(
    "--due", metavar="WHEN", help="An extension: 2026-11-27 (the whole day), 2026-11-27T18:00."
)
@click.option(
    "--attempt", metavar="FILE", help="The file that counts: its name, or 1 for the first."
)
@click.option("--comment", metavar="TEXT", help="For the student, and for you.")
@click.option(
    "--file", type=FILE, help=f"Where to write it: without this, GRADEBOOK/{ADJUSTMENTS}."
)
@click.option(
    "--rubric",
    type=FILE,
    help="The rubric of the gradebook, if it has one: what a gradient is worth.",
)
@class_course_option
def adjust(
    gradebook: Path,
    id: str,
    excused: bool | None,
    file: Path | None,
    rubric: Path | None,
    course: str | None,
    **said: Any,
) -> None:
    """Decide something about the student ID of a GRADEBOOK: a line of its adjustments.csv.

    ID is as in the column id of grades.csv, or the email address. Give `grader grade` again, and
    every table and page shows it; nothing is graded again. The last line about the same thing
    holds.

    The exit code is 0, or 2 if ID or anything else is not known in the gradebook.
    """
    from grader.classroom.gradebook.make_table import build_table
    from grader.classroom.run.out_folder import RESULTS

    cells = {"id": id, **{name: value for name, value in said.items() if value is not None}}
    if excused is not None:
        cells["excused"] = "yes" if excused else "no"
    grades = read_grades(gradebook)
    students = [row.student for row in grades.rows]
    asked = instructors_course(course)
    refuse_other_course(gradebook, grades.most, asked)
    points = read_rubric(rubric, asked)
    change = parse_adjustment(cells, asked, students, grades.most)
    if why := unfit(change, grades.most, points):
        if change.gradient and change.points is not None and rubric is None:
            why += " If the gradebook has a --rubric, name it here too."
        refuse([f"{change.where}: {why}"])
    if change.attempt:  # only the table, as `grader grade` makes it, knows a student's files
        build_table(
            ClassFolder(gradebook, "", tuple(students), ()),
            gradebook / RESULTS,
            replace(points, notebooks=tuple(grades.most)),
            adjustments={change.student: (replace(change, points=None),)},
        )
    path = file or gradebook / ADJUSTMENTS
    table = read_csv_file(path, "file of adjustments") if path.exists() else None
    cells |= {"id": id_cell(change.student), "notebook": change.notebook}
    cells |= {name: text_cell(cells[name]) for name in ("comment", "attempt") if name in cells}
    rows = list(with_line(table, cells))
    form = table.form if table else FOR_EXCEL
    try:
        "".join(cells.values()).encode(form.encoding)
    except UnicodeEncodeError:  # an old encoding: the comment is for the student to read
        form = replace(form, encoding=FOR_EXCEL.encoding)
    write_csv(path, rows, form)
    say_sentences(
        f"{printable(change.student)}: line {len(rows)} of {printable(str(path))}. Give "
        "`grader grade` again to see it in the gradebook; nothing is graded again.\n"
    )
