"""`grader compare`: the differences between two gradebooks."""

from __future__ import annotations

from pathlib import Path

import click

from grader.commands.extras import require
from grader.commands.options import PathTo
from grader.commands.speech import say, say_sentences


@click.command()
@click.argument("old", metavar="OLD", type=PathTo())
@click.argument("new", metavar="NEW", type=PathTo())
@click.option("--all", "everything", is_flag=True, help="List all students and all mistakes.")
@click.option("--json", "json_", is_flag=True, help="Print JSON.")
def compare(old: Path, new: Path, everything: bool, json_: bool) -> None:
    """Compare two gradebooks: who moved, which mistakes went, which came.

    OLD and NEW are folders that `grader grade` wrote, of one class before and after a lecture, or
    of two classes: students are known by their ids. Nothing is graded and nothing written. Points,
    and the files that count, are those of each gradebook.

    The exit code is 0, whatever changed; 2 if one of them is not a gradebook.
    """
    require("grade", "grader compare")
    from grader.classroom.gradebook import comparison, comparison_text

    found = comparison.compare(comparison.read_book(old), comparison.read_book(new))
    if json_:
        say(comparison_text.as_json(found))
    else:
        say_sentences(comparison_text.as_text(found, everything))
