"""A source file of the course as a notebook with its solutions in it."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from nbformat import NotebookNode

from grader.course.files import CELLS, HINTS
from grader.course.hints import load_hints
from grader.source import SourceError, read_source

_SHARED_CELL = re.compile(r"(?m)^# \{\{ cell: (?P<name>\w+) \}\}$")


def read_notebook(source: Path, repository: str | None = None) -> NotebookNode:
    """The notebook, with solutions and not yet run, of one source file of this course.

    Its badge and its Colab cell lead to `repository`, by default to the course's own.
    """
    text = _with_shared_cells(source.read_text(encoding="utf-8"), source)
    return read_source(text, source.stem, repository or read_repository(), load_hints(HINTS))


def read_repository() -> str:
    """The project's address."""
    project = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["project"]
    address: str = project["urls"]["Repository"]
    return address


def _with_shared_cells(text: str, source: Path) -> str:
    """A source with the cells put in that several notebooks have."""

    def cell(directive: re.Match[str]) -> str:
        path = CELLS / f"{directive['name']}.py"
        if not path.is_file():
            raise SourceError(f"{source}: {directive[0]} asks for {path}, which is not there.")
        return path.read_text(encoding="utf-8").rstrip()

    return _SHARED_CELL.sub(cell, text)
