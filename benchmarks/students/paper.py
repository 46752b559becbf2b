"""A notebook as it was handed out, to be filled with somebody's answers."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grader.authoring.blank import split_answers

BLANK = Path(__file__).parent.parent.parent / "notebooks" / "01_atomic_backprop.ipynb"

_TO_DO = re.compile(r"(d\w+) = \.\.\.  # your turn")
_STORED = re.compile(r"(?<![\w.])(d\w+)\s*(?=[,=]|\[.*\]\s*=)")


@dataclass(frozen=True, slots=True)
class Paper:
    """The cells of a notebook as JSON texts, and where among them the answer cells are.

    Made once for a class: to write 10,000 notebooks by way of nbformat takes minutes.
    """

    before: str
    cells: tuple[str | tuple[str, Mapping[str, Any]], ...]
    after: str

    @classmethod
    def of(cls, notebook: Mapping[str, Any]) -> Paper:
        """Take a notebook of format 4 to pieces."""
        cells: list[str | tuple[str, Mapping[str, Any]]] = []
        for cell in notebook["cells"]:
            nbgrader = cell["metadata"].get("nbgrader", {})
            if nbgrader.get("solution"):
                cells.append((nbgrader["grade_id"], cell))
            else:
                cells.append(json.dumps(cell))
        rest = {key: value for key, value in notebook.items() if key != "cells"}
        return cls('{"cells": [\n', tuple(cells), f"\n], {json.dumps(rest)[1:]}\n")

    def filled(self, answers: str, name: str) -> str:
        """The notebook handed in by `name`: the cells that `answers` leaves out stay as they were.

        What another cell assigns is asked for no more: one cell may answer everything.
        """
        return self.filled_with(split_answers(answers) if answers else {}, name)

    def filled_with(self, sources: Mapping[str, str], name: str) -> str:
        """The same, from the sources of answer cells by their ids."""
        assigned = {d for source in sources.values() for d in _STORED.findall(source)}
        texts = [json.dumps(_markdown(f"Handed in by {name}."))]
        for cell in self.cells:
            if isinstance(cell, str):
                texts.append(cell)
                continue
            grade_id, blank = cell
            source = sources.get(grade_id) or _without(_source(blank), assigned)
            texts.append(json.dumps({**blank, "source": source}))
        return self.before + ",\n".join(texts) + self.after

    @property
    def blanks(self) -> Mapping[str, str]:
        """The answer cells as they were handed out, by their ids."""
        return {cell[0]: _source(cell[1]) for cell in self.cells if not isinstance(cell, str)}


def course_paper() -> Paper:
    """Notebook 1 as the course hands it out."""
    return Paper.of(json.loads(BLANK.read_text(encoding="utf-8")))


def _source(cell: Mapping[str, Any]) -> str:
    source = cell["source"]
    return source if isinstance(source, str) else "".join(source)


def _without(source: str, assigned: set[str]) -> str:
    lines = source.splitlines()
    return "\n".join(
        line for line in lines if not ((to_do := _TO_DO.fullmatch(line)) and to_do[1] in assigned)
    )


def _markdown(text: str) -> Mapping[str, Any]:
    return {"cell_type": "markdown", "id": "handed-in-by", "metadata": {}, "source": text}
