"""Submissions, written from files with answers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import nbformat

from grader.blank import fill
from grader.course.files import write_notebook
from grader.source import SourceError


def fill_in(blank: Path, answers: Sequence[Path], out: Path) -> None:
    """Write submissions: copies of the blank notebook with the answers of each file in it."""
    notebook = nbformat.read(blank, as_version=4)
    for path in answers:
        try:
            filled = fill(notebook, path.read_text(encoding="utf-8"))
        except SourceError as error:
            raise SourceError(f"{path}: {error}") from error
        write_notebook(filled, out / f"{path.stem}.ipynb")
