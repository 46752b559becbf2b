"""`grader new`: make a course's folder from a file of forward functions."""

from __future__ import annotations

from pathlib import Path

import click

from grader.commands.extras import require
from grader.commands.options import FOLDER, PathTo
from grader.commands.speech import say


@click.command()
@click.argument("file", metavar="FORWARD.py", type=PathTo())
@click.option(
    "--out",
    type=FOLDER,
    help="The course's folder, by default called as the file is. It has to be new or empty.",
)
@click.option(
    "--id",
    "first_id",
    metavar="ID",
    help="What the exercise is called, as its cells' ids begin: letters and a number, such as n1. "
    "Several functions count on from it. By default the function's own name, and its number.",
)
def new(file: Path, out: Path | None, first_id: str | None) -> None:
    """Write a course from the forward functions in FORWARD.py.

    A forward function is straight-line code whose inputs are annotated with their shapes. Each
    becomes an exercise with a notebook to be taught from: the forward pass, a table of shapes, the
    rules it takes, answer cells with solutions, checks, and three hints a gradient. All of it is
    text for you to edit; `grader build` makes the notebooks. The file is run.

    The exit code is 0 if the folder is written, and 2 if not.
    """
    require("author", "grader new")
    from grader.authoring.draft.write import write_course

    folder = out or Path(file.stem)
    for path in write_course(file, folder, first_id):
        say(f"wrote {path}\n")
    say(f"Edit them as you like, then run: grader build {folder}\n")
