from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from grader.classroom.gradebook.read_grades import NoGradebook, read_grades
from grader.classroom.gradebook.rubric import Rubric
from grader.classroom.gradebook.write import Book, render
from grader.classroom.intake.class_folder import Student
from tests.helpers.lines import BATCHNORM, FUSED, class_of, graded, journal


def test_the_table_comes_back(tmp_path: Path) -> None:
    lines = [graded("a", "=ada", "pf"), graded("b", "bob", "pppppp", BATCHNORM)]
    folder = class_of(lines, [Student("=ada", "Ada; =L", "+ada@x.org"), Student("zoe")])
    render(Book(folder, journal(tmp_path / "r.sqlite", lines), Rubric()), tmp_path / "book")
    grades = read_grades(tmp_path / "book")
    assert grades.most == {FUSED: Fraction(2), BATCHNORM: Fraction(6)}
    assert [row.student for row in grades.rows] == [
        Student("=ada", "Ada; =L", "+ada@x.org"),
        Student("bob"),
        Student("zoe"),
    ]
    assert [row.adjusted for row in grades.rows] == [False, False, False]


def test_no_table(tmp_path: Path) -> None:
    with pytest.raises(NoGradebook, match="is not there"):
        read_grades(tmp_path)
    (tmp_path / "grades.csv").touch()
    assert read_grades(tmp_path).rows == ()
