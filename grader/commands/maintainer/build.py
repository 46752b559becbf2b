"""`grader build`: make the notebooks of a course's folder, run them and check them."""

from __future__ import annotations

from pathlib import Path

import click

from grader.commands import exit_codes
from grader.commands.extras import require
from grader.commands.options import PathTo
from grader.commands.speech import say, told
from grader.printable import counted, listed
from grader.program.course import read_course


@click.command()
@click.argument("folder", metavar="FOLDER", type=PathTo())
def build(folder: Path) -> int:
    """Make the notebooks of the course in FOLDER; run and check them.

    Each source of FOLDER/source becomes the student's notebook, in FOLDER, and the solved one, in
    FOLDER/solutions. Every solution has to pass. The student's notebook has to run from top to
    bottom and say "to do" of every gradient. What is missing is said in sentences. The course's
    forward functions and notebooks are run: build courses of people you trust.

    The exit code is 0 if everything is in order, 1 if something is missing, and 2 if FOLDER holds
    no course that can be used.
    """
    require("author", "grader build")
    course = read_course(folder)

    from grader.authoring.course import Layout
    from grader.authoring.dev_check import build_and_check
    from grader.execution.runner import Runner
    from grader.program.exercises import load_exercises

    load_exercises(course)
    layout = Layout.of(course)
    is_in_order = True
    with Runner() as runner:
        for notebook in course.notebooks:
            points = sum(len(each.gradients) * each.points for each in course.outlines(notebook))
            asked = counted(len(course.gradients(notebook)), "gradient")
            what = f"{notebook}: {asked}, {counted(points, 'point')}"
            is_in_order &= told(what, build_and_check(layout, notebook, runner))
    if not is_in_order:
        return exit_codes.NOT_PASSED
    paths = listed(f"{folder / notebook}.ipynb" for notebook in course.notebooks)
    file = f"{course.notebooks[0]}.ipynb"
    say(f"For your students: {paths}. A notebook needs no other file.\n")
    say(f"At a terminal they name it twice: grader check {file} --course {file}\n")
    return exit_codes.PASSED
