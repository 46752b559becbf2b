"""`report/alike.html` and `alike.csv`: who wrote alike, quoted side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from operator import attrgetter
from pathlib import Path

from grader.classroom.gradebook.alike.in_class import (
    MOST_GROUPS,
    AlikeGroup,
    AlikeNotebook,
    AlikePair,
    SharedLine,
)
from grader.classroom.gradebook.alike.pairs import FEWEST_STUDENTS
from grader.classroom.gradebook.grades_csv import id_cell, text_cell, write_csv
from grader.classroom.gradebook.report.anonymous import Numbered
from grader.classroom.gradebook.report.own_lines import shareable
from grader.classroom.gradebook.report.pages import render
from grader.classroom.gradebook.table import Row
from grader.classroom.intake.class_folder import Student

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


def shown_as(numbered: Numbered, notebook: AlikeNotebook) -> AlikeNotebook:
    """The same without names, in an order that says nothing of them."""
    shown = {
        row.student.id: pseudonym
        for row, pseudonym in zip(numbered.rows, numbered.shown, strict=True)
    }
    groups = tuple(
        AlikeGroup(
            tuple(
                sorted((shown[row.student.id] for row in group.students), key=attrgetter("page"))
            ),
            tuple(_pair_shown(pair, shown) for pair in group.pairs),
        )
        for group in notebook.groups
    )
    return replace(notebook, groups=groups)


def _pair_shown(pair: AlikePair, shown: Mapping[str, Row]) -> AlikePair:
    authors = (pair.one.student, pair.other.student)
    quoted = tuple(
        replace(line, one=_unsigned(line.one, *authors), other=_unsigned(line.other, *authors))
        for line in pair.quoted
    )
    one, other = shown[pair.one.student.id], shown[pair.other.student.id]
    if one.page < other.page:
        return replace(pair, one=one, other=other, quoted=quoted)
    turned = (SharedLine(q.other, q.other_place, q.one, q.one_place, q.writers) for q in quoted)
    return replace(pair, one=other, other=one, quoted=tuple(turned))


def _unsigned(code: str, *authors: Student) -> str:
    """A line without comments; one copied from a friend may hold the friend's name."""
    said = [shareable(code, author) for author in authors]
    return said[0] if all(said) else "(a line with a name in it)"


def write_alike_csv(notebooks: Sequence[AlikeNotebook], path: Path) -> None:
    """A row for each pair, the group with the likest pair first; UTF-8 as Excel reads it.

    Raises:
        OSError: it cannot be written.
    """
    rows: list[Sequence[str]] = [HEADER]
    for notebook in notebooks:
        for number, group in enumerate(notebook.groups, start=1):
            for pair in group.pairs:
                students = (pair.one.student, pair.other.student)
                who = (cell for s in students for cell in (id_cell(s.id), text_cell(s.name)))
                rows.append((notebook.notebook, str(number), *who, f"{pair.shared:.1f}"))
    write_csv(path, rows)
