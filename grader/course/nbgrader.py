"""The course as an assignment for nbgrader."""

from __future__ import annotations

import copy
import shutil
import textwrap
from collections.abc import Iterable
from pathlib import Path

import click
import nbformat
from nbformat import NotebookNode

from grader.blank import gradients_checked_in, make_blank, with_placeholders
from grader.course.files import find_sources, write_notebook
from grader.course.read import read_notebook
from grader.source import checked_gradients, role_of

ASSIGNMENT = "backprop"
LINE_LENGTH = 100
SETTINGS = Path(__file__).with_name("nbgrader_config.py.txt")
"""No module of the grader's: nbgrader runs it."""


def write_course(out: Path) -> None:
    """Write a course folder for nbgrader: its settings, and the notebooks with their solutions.

    What has been released, handed in or graded there stays as it is, and so do the settings.
    """
    for source in find_sources():
        assignment = as_assignment(read_notebook(source))
        write_notebook(assignment, out / "source" / ASSIGNMENT / f"{source.stem}.ipynb")
    settings = out / SETTINGS.stem
    if settings.is_file():
        click.echo(f"kept {settings}, which was there already")
    else:
        shutil.copyfile(SETTINGS, settings)
        click.echo(f"wrote {settings}")


def as_assignment(notebook: NotebookNode) -> NotebookNode:
    """A notebook that nbgrader makes the student's copy of, by taking the solutions out.

    It puts one and the same text in the place of every solution, so that what a student begins
    with, `dX = ...  # your turn`, stands before them. A check cell ends with the points that its
    gradients have earned, which is where nbgrader looks for partial credit.
    """
    assignment = copy.deepcopy(notebook)
    gradients = gradients_checked_in(notebook)
    for cell, blank in zip(assignment.cells, make_blank(notebook).cells, strict=True):
        role = role_of(cell.source) if cell.cell_type == "code" else None
        match role.kind if role else None:
            case "answer":
                cell.source = with_placeholders(cell.source, gradients)
            case "check":
                cell.source = _with_points(cell.source)
            case "try":
                # Nobody grades it, and nbgrader allows solutions in graded cells only.
                cell.source = blank.source
    nbformat.validate(assignment)
    return assignment


def _with_points(source: str) -> str:
    """A check cell whose last value is what it has earned."""
    role, _, checks = source.partition("\n")
    # Imported here, since a student may have used the names for something else.
    names = "from grader import check, points"
    return f"{role}\n{names}\n\n{checks}\n{_call('points', checked_gradients(source))}"


def _call(function: str, arguments: Iterable[str]) -> str:
    quoted = ", ".join(f'"{argument}"' for argument in arguments)
    line = f"{function}({quoted})"
    if len(line) <= LINE_LENGTH:
        return line
    indent = " " * 4
    inside = textwrap.fill(
        f"{quoted},", LINE_LENGTH, initial_indent=indent, subsequent_indent=indent
    )
    return f"{function}(\n{inside}\n)"
