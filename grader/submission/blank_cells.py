"""The blank cells of every notebook, for `grader reset` to put back."""

# A student's grader has no notebooks beside it. What the student's copies of the notebooks say in
# the cells meant to be changed is therefore kept in a file of its own, which `make notebooks`
# writes and `make verify` compares.

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping

from grader.program.course import Course
from grader.submission.answer_cells import role_comments

FILE = "blank_cells.json"
"""Its name in a course's folder."""

Blanks = Mapping[str, Mapping[str, str]]
"""Notebook -> id of a cell ("ex1-softmax") -> its text, in the notebook's order."""

_TO_DO = re.compile(r"^\s*(\w+) = \.\.\.  # your turn$", re.MULTILINE)


def read_blank_cells(course: Course) -> dict[str, dict[str, str]]:
    """The blanks of every notebook; none where the course has not been built."""
    path = course.folder / FILE
    document = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    return {
        notebook: {name: "\n".join(lines) for name, lines in cells.items()}
        for notebook, cells in document.items()
    }


def blank_cells_file(blanks: Blanks) -> str:
    """The text of the file that `read_blank_cells` reads."""
    document = {
        notebook: {name: text.split("\n") for name, text in cells.items()}
        for notebook, cells in blanks.items()
    }
    return json.dumps(document, indent=1) + "\n"


def blank_cells(sources: Iterable[str]) -> dict[str, str]:
    """Those code cells of a blank notebook that are there to be changed, by their ids."""
    return {
        grade_id: source
        for source in sources
        for role, grade_id in list(role_comments(source))[:1]
        if role in ("answer", "try")
    }


def gradients_in(blank: str) -> tuple[str, ...]:
    """The gradients that a blank cell asks for, in order."""
    return tuple(_TO_DO.findall(blank))
