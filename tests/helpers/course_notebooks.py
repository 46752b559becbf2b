"""Files of the course's notebooks for tests: the student's copies, with answers or without."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from corpus.readers.exercise_text import read_cells, right_answers
from corpus.readers.places import NOTEBOOKS

FOLDER = NOTEBOOKS
FIRST = FOLDER / "01_atomic_backprop.ipynb"
NAMES = tuple(path.stem for path in sorted(FOLDER.glob("*.ipynb")))


def right_cells() -> dict[str, str]:
    """A right answer to notebook 1, by cell."""
    return dict(read_cells(right_answers()["lecture"]))


def unmarked(notebook: str) -> bytes:
    """The solution of a notebook, without the mark that it is the course's own."""
    data = (FOLDER / "solutions" / f"{notebook}.ipynb").read_bytes()
    return data.replace(b'"solved": true', b'"solved": false')


def solved(notebook: str) -> bytes:
    """A right notebook that is not the course's own solution word for word."""
    document = json.loads(unmarked(notebook))
    for cell in document["cells"]:
        if cell["cell_type"] == "code" and "".join(cell["source"]).startswith("# answer:"):
            cell["source"] = [*cell["source"], "\npass"]
    return dump(document).encode()


def with_answers(notebook: Path, answers: Mapping[str, str]) -> dict[str, Any]:
    """The document of a notebook with some of its answer cells filled in and run."""
    document: dict[str, Any] = json.loads(notebook.read_text(encoding="utf-8"))
    for cell in document["cells"]:
        if cell["id"] in answers:
            cell["source"] = answers[cell["id"]].splitlines(keepends=True)
        if cell["id"].removesuffix("-check") in answers:
            cell["outputs"] = [{"output_type": "stream", "name": "stdout", "text": ["said\n"]}]
            cell["execution_count"] = 7
    return document


def dump(document: dict[str, Any]) -> str:
    """The document as Jupyter writes it."""
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def write_notebook(path: Path, *sources: str) -> Path:
    """A notebook of nothing but answer cells, written to `path`."""
    cells = [
        {
            "cell_type": "code",
            "metadata": {"nbgrader": {"grade_id": f"ex1-{number}", "solution": True}},
            "source": source,
            "outputs": [],
        }
        for number, source in enumerate(sources)
    ]
    path.write_text(
        json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells})
    )
    return path
