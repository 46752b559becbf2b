"""`report/alike.html` and `alike.csv`: who wrote alike, quoted side by side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from grader.classroom.gradebook.alike import FEWEST_STUDENTS
from grader.classroom.gradebook.alike_class import MOST_GROUPS, AlikeNotebook
from grader.classroom.gradebook.grades_csv import id_cell, text_cell, write_csv
from grader.classroom.gradebook.pages import render
from grader.classroom.intake.class_folder import Roster

MOST_NAMES = 12
"""Students of a group who are named above it."""

HEADER = ("notebook", "group", "id", "name", "other id", "other name", "shared")


def alike_page(notebooks: Sequence[AlikeNotebook], title: str, threshold: float) -> str:
    """The page, which needs no other file but the pages it links to."""
    return render(
        "alike",
        title=title,
        notebooks=notebooks,
        threshold=threshold,
        fewest=FEWEST_STUDENTS,
        most_groups=MOST_GROUPS,
        most_names=MOST_NAMES,
    )


def write_alike_csv(notebooks: Sequence[AlikeNotebook], path: Path) -> None:
    """A row for each pair, the group with the likest pair first; UTF-8 as Excel reads it.

    Raises:
        OSError: it cannot be written.
    """
    form = Roster("alike", (), (), (), encoding="utf-8-sig", newline="\r\n")
    write_csv(path, [HEADER, *_rows(notebooks)], form)


def _rows(notebooks: Sequence[AlikeNotebook]) -> Iterator[Sequence[str]]:
    for notebook in notebooks:
        for number, group in enumerate(notebook.groups, start=1):
            for pair in group.pairs:
                students = (pair.one.student, pair.other.student)
                who = (cell for s in students for cell in (id_cell(s.id), text_cell(s.name)))
                yield notebook.notebook, str(number), *who, f"{pair.shared:.1f}"
