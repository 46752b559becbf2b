"""The course's own files: where they lie, and its sources read as notebooks."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from pathlib import Path

import click
import nbformat
from nbformat import NotebookNode

from grader.authoring.source import HINTS_A_GRADIENT, Hints, SourceError, read_source
from grader.program.course_file import CourseFile

SOURCES = Path("notebooks/source")
BLANKS = Path("notebooks")
SOLUTIONS = Path("notebooks/solutions")
CELLS = SOURCES / "cells"
"""Cells that stand in several notebooks, each of which has to open alone."""
COURSE = Path("makemore_data/course")
"""The folder of exercises, forward functions, hints and blank cells."""
HINTS = COURSE / "hints.toml"
BLANK_CELLS = COURSE / "blank_cells.json"

_SHARED_CELL = re.compile(r"(?m)^# \{\{ cell: (?P<name>\w+) \}\}$")


def find_sources(names: Sequence[str] = ()) -> list[Path]:
    """The sources of the named notebooks, or of all.

    Raises:
        SourceError: there are no sources here, or none has such a name.
    """
    sources = sorted(SOURCES.glob("*.py"))
    if not sources:
        raise SourceError(f"There is no {SOURCES}/*.py here: run this from the project's folder.")
    if unknown := sorted(set(names) - {source.stem for source in sources}):
        known = ", ".join(source.stem for source in sources)
        raise SourceError(f"There is no notebook {unknown[0]}; there are {known}.")
    return [source for source in sources if not names or source.stem in names]


def read_notebooks(
    names: Sequence[str] = (), repository: str | None = None
) -> dict[str, NotebookNode]:
    """Read the named notebooks, or all, as `read_notebook` does; the keys are their names."""
    return {source.stem: read_notebook(source, repository) for source in find_sources(names)}


def read_notebook(source: Path, repository: str | None = None) -> NotebookNode:
    """Read a source as a notebook, with its solutions in it and not yet run.

    Its badge and its Colab cell lead to `repository`, by default to the course's own.

    Raises:
        SourceError: it cannot become a notebook; the message says why.
    """

    def shared_cell(directive: re.Match[str]) -> str:
        path = CELLS / f"{directive['name']}.py"
        if not path.is_file():
            raise SourceError(f"{source}: {directive[0]} asks for {path}, which is not there.")
        return path.read_text(encoding="utf-8").rstrip()

    text = _SHARED_CELL.sub(shared_cell, source.read_text(encoding="utf-8"))
    return read_source(text, source.stem, repository or read_repository(), load_hints(HINTS))


def read_repository() -> str:
    """The project's address."""
    project = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["project"]
    address: str = project["urls"]["Repository"]
    return address


def load_hints(path: Path) -> Hints:
    """The hints of every exercise, finished or not: a table `[ex1]` has `dprobs = [...]`.

    Raises:
        SourceError: the file holds something else.
    """
    tables = CourseFile(path).values
    for prefix, table in tables.items():
        if not isinstance(table, dict) or not all(map(_is_texts, table.values())):
            raise SourceError(
                f"{path} cannot be read: [{prefix}] has to be a table with a line such as "
                f"`dprobs = [...]` for each gradient, {HINTS_A_GRADIENT} texts."
            )
    return tables


def _is_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(text, str) for text in value)


def write_notebook(notebook: NotebookNode, path: Path) -> None:
    """Write a notebook's file and say so on standard output."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(nbformat.writes(notebook, version=4) + "\n", encoding="utf-8")
    click.echo(f"wrote {path}")
