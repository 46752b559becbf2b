from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from corpus.readers.lecture_course import COURSE
from grader.classroom.gradebook.adjustments import (
    Adjustments,
    UnusableAdjustment,
    read_adjustments,
)
from grader.classroom.gradebook.fitting import fitted
from grader.classroom.gradebook.rubric import Rubric, parse_rubric
from grader.classroom.intake.class_folder import Student, UnreadableClass
from grader.classroom.intake.roster_file import read_roster
from tests.helpers.lines import FUSED

CLASS = [Student("ada", "Lovelace, Ada", "ada@x.org"), Student("bob"), Student("+17", email="c@x")]
MOST = {FUSED: Fraction(2), "03_fused_batchnorm": Fraction(6)}


def read(tmp_path: Path, text: str) -> Adjustments:
    path = tmp_path / "adjustments.csv"
    path.write_text(text, encoding="utf-8")
    return read_adjustments(path, COURSE, CLASS)


@pytest.mark.parametrize(
    "who", ["1001", "LOVE01", "sis7", "A@x.org", "Ada Lovelace", "lovelace, ada"]
)
def test_a_student_by_all_that_the_class_list_says(tmp_path: Path, who: str) -> None:
    roster = tmp_path / "roster.csv"
    roster.write_text(
        "Student,ID,SIS User ID,SIS Login ID,Section,Email\n"
        '"Lovelace, Ada",1001,sis7,love01,1,a@x.org\n"Hopper, Grace",1002,sis8,hop,1,\n'
        '"Hopper, Grace",1003,sis9,hop3,1,\n'
    )
    path = tmp_path / "adjustments.csv"
    path.write_text(f'id,notebook,points\n"{who}",02,1\n')
    students = read_roster(roster).students
    assert list(read_adjustments(path, COURSE, students)) == ["1001"]
    path.write_text("id,notebook,points\nGrace Hopper,02,1\n")
    with pytest.raises(UnusableAdjustment, match="'Grace Hopper' may be 1002 or 1003"):
        read_adjustments(path, COURSE, students)


def test_each_column(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        "id;notebook;gradient;points;excused;due;attempt;comment\n"
        "ada;02;;1,5;;;;oral exam\n"
        "ADA@x.org;3;dvar;1;;;;\n"
        f"bob;{FUSED};;;yes;;;ill\n"
        "bob;;;;;2026-12-01;;\n"
        ";;;;;;;\n"
        "'+17;2;;;;;hw (1).ipynb;'=1+1\n",
    )
    points, gradient = found["ada"]
    assert (points.notebook, points.points, points.comment) == (FUSED, Fraction(3, 2), "oral exam")
    assert (gradient.notebook, gradient.gradient) == ("03_fused_batchnorm", "dvar")
    excused, due = found["bob"]
    assert (excused.excused, excused.comment) == (True, "ill")
    assert due.due
    assert due.due.isoformat() == "2026-12-01T23:59:59"
    (attempt,) = found["+17"]
    assert (attempt.attempt, attempt.comment) == ("hw (1).ipynb", "=1+1")
    assert "eve" not in found
    assert fitted(found, MOST, Rubric(), {})[0] == found


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("eve,02,,1,,,,", "nobody in the class has the id 'eve'"),
        ("ad,02,,1,,,,", "nobody in the class has the id 'ad'; did you mean ada?"),
        ("s17,02,,1,,,,", "has the id 's17'; an id is what the column id of grades.csv has"),
        (",02,,1,,,,", "it has no id"),
        ("ada,07,,1,,,,", "there is no notebook '07'"),
        ("ada,02,dvar,1,,,,", "there is no gradient 'dvar' in 02_fused_cross_entropy"),
        ("ada,,dlogit,1,,,,", "there is no gradient 'dlogit'; did you mean"),
        ("ada,,dlogits,1,,,,", "dlogits is asked for in 01_atomic_backprop"),
        ("ada,02,,many,,,,", "points is 'many', but has to be a number"),
        ("ada,02,,-1,,,,", "points is '-1'"),
        ("ada,02,,nan,,,,", "points is 'nan'"),
        ("ada,02,,1e-999999999,,,,", "points is '1e-999999999'"),
        ("ada,02,,,maybe,,,", "excused is 'maybe', but has to be yes or no"),
        ("ada,02,,,,soon,,", "'soon' is not a time"),
        ("ada,02,dz,,,2026-12-01,,", "due cannot be said of one gradient"),
        ("ada,02,,,,,,", "it changes nothing"),
        ("ada,02,,1,yes,,,", "points and excused contradict each other"),
        ("ada,02,,1,,,,ill, until Monday", "'until Monday' is in no column. A text with a comma"),
    ],
)
def test_each_line_that_cannot_be_used_is_refused_with_its_number(
    tmp_path: Path, line: str, said: str
) -> None:
    text = (
        "id,notebook,gradient,points,excused,due,attempt,comment\n"
        'bob,02,,1,,,,"two\nlines"\n'
        f"{line}\nzoe,02,,1,,,,\n"
    )
    with pytest.raises(UnusableAdjustment) as refused:
        read(tmp_path, text)
    first, second = str(refused.value).splitlines()
    assert first.startswith("Line 4 of ")
    assert said in first
    assert second.startswith("Line 5 of ")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("ada,01,,1", "Line 2 of .*: 01_atomic_backprop is not in this gradebook"),
        ("ada,,,1", "Line 2 of .*: of which notebook are the points"),
        ("ada,02,,2.5", "Line 2 of .*: 2.5 are more points than the 2 of 02_fused_cross_entropy"),
        ("ada,02,dz,9", "Line 2 of .*: 9 are more points than the 1 of dz in 02_fused_cross_e"),
        ("ada,03,dvar,4", "Line 2 of .*: 4 are more points than the 3 of dvar in 03_fused_batch"),
    ],
)
def test_what_the_gradebook_has_not(tmp_path: Path, line: str, said: str) -> None:
    found = read(tmp_path, f"id,notebook,gradient,points\n{line}\n")
    with pytest.raises(UnusableAdjustment, match=said):
        fitted(found, MOST, parse_rubric("[ex3]\ndvar = 3", COURSE), {})


@pytest.mark.parametrize("name", [FUSED, f"{FUSED}.ipynb", "02", "2"])
def test_a_notebook_by_its_name_its_file_or_its_number(tmp_path: Path, name: str) -> None:
    assert read(tmp_path, f"id,notebook,points\nada,{name},1\n")["ada"][0].notebook == FUSED


def test_empty_cells_beyond_the_header_say_nothing(tmp_path: Path) -> None:
    assert read(tmp_path, "id;points;\nada;1;;;\n")["ada"][0].points == 1
    with pytest.raises(UnusableAdjustment, match=r"'ill' is in no column\. .* a semicolon"):
        read(tmp_path, "id;points;\nada;1;ill\n")


@pytest.mark.parametrize("text", ["", "name,points\nada,1\n", "id,score\nada,1\n"])
def test_a_header_is_needed(tmp_path: Path, text: str) -> None:
    with pytest.raises(UnusableAdjustment, match="needs a header with id and any of notebook"):
        read(tmp_path, text)


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(UnreadableClass, match=r"The file of adjustments .* does not exist"):
        read_adjustments(tmp_path / "nothing.csv", COURSE, CLASS)


def test_the_last_line_about_the_same_thing_holds(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        "id,notebook,gradient,points,due,comment\n"
        "ada,02,,1,,first\n"
        "ada,02,dz,0,,one gradient\n"
        "ada,02,,2,,second\n"
        "ada,02,,,2026-12-01,more time\n",
    )
    assert [change.comment for change in found["ada"]] == ["one gradient", "second", "more time"]
