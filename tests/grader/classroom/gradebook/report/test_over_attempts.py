"""Points over submissions, where there are several."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from grader.classroom.gradebook.make_table import build_table
from grader.classroom.gradebook.report.over_attempts import (
    BELOW,
    HEIGHT,
    LEFT,
    MOST_NUMBERS,
    RIM,
    WIDTH,
    axes_of,
    class_trails,
    trail,
)
from grader.classroom.gradebook.rubric import Rubric
from grader.classroom.gradebook.table import Table
from grader.classroom.gradebook.write import write_gradebook
from tests.helpers.lines import BATCHNORM, Document, class_of, graded, journal, unreadable

TOP, BOTTOM = RIM, HEIGHT - BELOW - RIM
FIRST, LAST = LEFT + RIM, WIDTH - RIM


def attempt(student: str, number: int, outcomes: str) -> Document:
    moment = f"2026-11-0{number}T12:00:00+00:00"
    return graded(f"{student}{number}", student, outcomes, submitted=moment)


LINES = [
    attempt("ada", 3, "pp"),
    attempt("ada", 1, "tt"),
    attempt("ada", 2, "pf"),
    attempt("bob", 1, "pp"),
    attempt("bob", 2, "pf"),
    attempt("cyd", 1, "pp"),
    unreadable("cyd2", "cyd"),
    attempt("dan", 1, "fp"),
    attempt("dan", 2, "pf"),
]


@pytest.fixture
def table(tmp_path: Path) -> Table:
    return build_table(class_of(LINES), journal(tmp_path / "r.jsonl", LINES), Rubric())


def test_the_oldest_comes_first_and_points_are_heights(table: Table) -> None:
    dots = trail(table.rows[0].cells[0])
    assert [(dot.file.id, int(dot.points)) for dot in dots] == [
        ("ada1", 0),
        ("ada2", 1),
        ("ada3", 2),
    ]
    assert [dot.y for dot in dots] == [BOTTOM, (TOP + BOTTOM) / 2, TOP]
    assert [dot.x for dot in dots] == [FIRST, (FIRST + LAST) / 2, LAST]


def test_one_file_that_was_graded_has_no_line(table: Table) -> None:
    assert [len(trail(row.cells[0])) for row in table.rows] == [3, 2, 0, 2]


def test_the_class_has_a_line_for_each_student_with_several(table: Table) -> None:
    (found,) = class_trails(table)
    assert (found.students, found.gained, found.lost, found.same) == (3, 1, 1, 1)
    assert (found.most, len(found.paths)) == (3, 3)
    # Two submissions end where the second of three stands.
    assert found.paths[1].endswith(f"L{(FIRST + LAST) / 2:.1f},{(TOP + BOTTOM) / 2:.1f}")


def test_the_axes_have_the_numbers_of_the_dots(table: Table) -> None:
    axes, dots = axes_of(table.columns[0], 3), trail(table.rows[0].cells[0])
    assert axes.heights == (("0", dots[0].y), ("1", dots[1].y), ("2", dots[2].y))
    assert axes.places == tuple((number, dot.x) for number, dot in enumerate(dots, 1))
    assert len(axes_of(table.columns[0], 1_000).places) == MOST_NUMBERS


def test_the_pages_show_them(tmp_path: Path) -> None:
    lines = [*LINES, graded("ada b", "ada", "pppppp", BATCHNORM)]
    results = journal(tmp_path / "results.jsonl", lines)
    index = write_gradebook(class_of(lines), results, Rubric(), tmp_path / "out").index
    text = " ".join(index.read_text("utf-8").split())
    assert "3 students with up to 3 submissions. 1 gained" in text
    assert text.count('class="card trails"') == 1

    def page(student: str) -> str:
        return (index.parent / "students" / f"{student}.html").read_text("utf-8")

    assert "the oldest first: 0, 1, 2; 2 can be earned" in page("ada")
    assert len(re.findall("<circle[^>]*><title>", page("ada"))) == 3
    assert 'class="counts" cx="432.0" cy="8.0"' in page("ada")
    assert "Points over submissions" not in page("cyd")


def test_where_everybody_handed_in_once_there_is_none(tmp_path: Path) -> None:
    lines = [graded("a", "ada", "pp"), graded("b", "bob", "pf")]
    results = journal(tmp_path / "results.jsonl", lines)
    index = write_gradebook(class_of(lines), results, Rubric(), tmp_path / "out").index
    assert "Points over submissions" not in index.read_text("utf-8")
