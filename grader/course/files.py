"""Where the files of the course stand in its repository."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click
import nbformat
from nbformat import NotebookNode

from grader.source import SourceError

SOURCES = Path("notebooks/source")
BLANKS = Path("notebooks")
SOLUTIONS = Path("notebooks/solutions")
CELLS = SOURCES / "cells"
"""Cells that stand in several notebooks, each of which has to open alone."""
HINTS = Path("grader/hints")
BLANK_CELLS = Path("grader/blank_cells.json")


def find_sources(names: Sequence[str] = ()) -> list[Path]:
    """The sources of the named notebooks, or of all."""
    sources = sorted(SOURCES.glob("*.py"))
    if not sources:
        raise SourceError(f"There is no {SOURCES}/*.py here: run this from the project's folder.")
    if unknown := sorted(set(names) - {source.stem for source in sources}):
        known = ", ".join(source.stem for source in sources)
        raise SourceError(f"There is no notebook {unknown[0]}; there are {known}.")
    return [source for source in sources if not names or source.stem in names]


def write_notebook(notebook: NotebookNode, path: Path) -> None:
    """Write a notebook, say so."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(nbformat.writes(notebook, version=4) + "\n", encoding="utf-8")
    click.echo(f"wrote {path}")
