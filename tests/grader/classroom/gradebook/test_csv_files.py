from __future__ import annotations

import csv
import io
import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.classroom.gradebook.adjustments import Change
from grader.classroom.gradebook.book import Book
from grader.classroom.gradebook.grades_csv import id_cell, own_cell, text_cell, write_grades
from grader.classroom.gradebook.make_book import make_book
from grader.classroom.gradebook.platform_csv import write_canvas, write_moodle
from grader.classroom.gradebook.platform_form import CANVAS_COLUMNS, MOODLE_COLUMNS
from grader.classroom.gradebook.rubric import Rubric
from grader.classroom.intake.class_folder import Roster, RosterRow, Student
from grader.classroom.intake.platform_layouts import CANVAS as DOWNLOAD
from grader.classroom.intake.roster_file import read_roster
from grader.classroom.spreadsheet import CsvForm
from tests.helpers.lines import (
    FUSED,
    Document,
    class_of,
    graded,
    journal,
    unreadable,
)

DANGEROUS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
ANY = st.text(alphabet=st.characters(codec=None))
HOSTILE = st.one_of(ANY, ANY.map("=".__add__), ANY.map("\t=".__add__), ANY.map(" ;+".__add__))

CANVAS_EMPTY = Roster("canvas", CANVAS_COLUMNS, (), (), CsvForm(newline="\r\n"))
WORKSHEET_EMPTY = Roster("moodle", MOODLE_COLUMNS, (), (), CsvForm(newline="\r\n"))
"""Class lists without a student: everybody in the gradebook gets a row all the same."""

LINES = [
    graded("a", "ada", "pc", late=True),
    graded("b", "bob", "pf", flags=[{"kind": "x", "line": 1, "message": "m", "cell": "c"}]),
    graded("b2", "bob", "pf", attempt=1),
    unreadable(f"c-{FUSED}", "cyd"),
]
STUDENTS = [Student("ada", "Lovelace, Ada", "ada@x.org"), Student("dan", "=1+1"), Student("bob")]


def made(
    tmp_path: Path, lines: list[Document], students: list[Student], roster: Roster | None = None
) -> Book:
    folder = class_of(lines, students, roster=roster)
    return make_book(folder, journal(tmp_path / "results.sqlite", lines), Rubric())


def read(path: Path, encoding: str = "utf-8", delimiter: str = ",") -> list[list[str]]:
    text = path.read_bytes().decode(encoding)
    return list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True))


def test_grades_of_a_small_class(tmp_path: Path) -> None:
    book = made(tmp_path, LINES, STUDENTS)
    write_grades(book, tmp_path / "grades.csv")
    data = (tmp_path / "grades.csv").read_bytes()
    assert data.startswith(b"\xef\xbb\xbfid,")
    header, *rows = read(tmp_path / "grades.csv", "utf-8-sig")
    assert header == [
        *("id", "name", "email", FUSED, f"{FUSED} max", "total", "total max"),
        *("status", "late", "flags", "flag kinds", "superseded files"),
        *("attempts", "adjusted", "comment"),
    ]
    assert [row[:12] for row in rows] == [
        ["ada", "Lovelace, Ada", "ada@x.org", "2", "2", "2", "2", "late", FUSED, "0", "", "0"],
        ["bob", "", "", "1", "2", "1", "2", "graded", "", "1", "x:1", "1"],
        ["cyd", "", "", "0", "2", "0", "2", "unreadable", "", "1", "earned-nothing:1", "0"],
        ["dan", "'=1+1", "", "0", "2", "0", "2", "missing", "", "0", "", "0"],
    ]
    taken = f"{FUSED}: taken b2 (1), the latest by its name; not b (1)"
    assert [row[12:] for row in rows] == [["", "", ""], [taken, "", ""], ["", "", ""], ["", "", ""]]


@pytest.mark.slow
@given(
    st.lists(st.text(alphabet=st.characters(codec=None)), unique=True, max_size=6),
    st.text(alphabet=st.characters(codec=None)),
)
def test_rows_in_are_rows_out(
    tmp_path_factory: pytest.TempPathFactory, ids: list[str], name: str
) -> None:
    folder = tmp_path_factory.mktemp("rows")
    students = [Student(id_, name, id_) for id_ in ids]
    book = made(folder, [], students)
    write_grades(book, folder / "g.csv")
    write_canvas(made(folder, [], students, CANVAS_EMPTY), folder / "c.csv")
    write_moodle(made(folder, [], students, WORKSHEET_EMPTY), folder / "m.csv")
    sizes = [len(read(folder / file, "utf-8-sig")) - 1 for file in ("g.csv", "m.csv")]
    assert sizes == [len(ids)] * 2
    assert len(read(folder / "c.csv")) == len(ids) + 2


def test_canvas_rows_of_who_is_not_in_its_list(tmp_path: Path) -> None:
    book = made(tmp_path, LINES, STUDENTS, CANVAS_EMPTY)
    write_canvas(book, tmp_path / "canvas.csv")
    assert read(tmp_path / "canvas.csv") == [
        ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", FUSED],
        ["    Points Possible", "", "", "", "", "2"],
        ["Lovelace, Ada", "", "", "ada", "", "2"],
        ["bob", "", "", "bob", "", "1"],
        ["cyd", "", "", "cyd", "", ""],  # no grade is not the grade 0
        ["'=1+1", "", "", "dan", "", ""],
    ]


def test_the_numbers_of_canvas_downloads_are_its_ids(tmp_path: Path) -> None:
    book = made(tmp_path, LINES, STUDENTS, CANVAS_EMPTY)
    download = replace(book.class_folder, convention=DOWNLOAD)
    write_canvas(replace(book, class_folder=download), tmp_path / "canvas.csv")
    assert read(tmp_path / "canvas.csv")[2] == ["Lovelace, Ada", "ada", "", "", "", "2"]


CANVAS = Roster(
    "canvas",
    header=(
        *("Student", "ID", "SIS User ID", "SIS Login ID", "Section"),
        *("Essay (11)", f"{FUSED} (4711)", "Current Score"),
    ),
    above=(
        ("", "", "", "", "", "Manual Posting", "", ""),
        ("    Points Possible", "", "", "", "", "10", "2.0", "(read only)"),
    ),
    rows=(
        RosterRow(("Lovelace, Ada", "7", "-0012", "+ada", "Mon", "9", "", "90"), "ada"),
        RosterRow(("Lovelace, Ada", "7", "-0012", "+ada", "Tue", "9", "", "90"), "ada"),
        RosterRow(("=cmd|x, Bob", "8", "0013", "bob@x.org", "Mon", "", "", ""), "bob"),
        RosterRow(("Student, Test", "", "", "", "Mon", "", "", ""), ""),
    ),
    form=CsvForm(";", "utf-8-sig"),
)


def test_canvas_gets_its_own_rows_back(tmp_path: Path) -> None:
    book = made(tmp_path, LINES, STUDENTS, CANVAS)
    write_canvas(book, tmp_path / "canvas.csv")
    assert b"\r" not in (tmp_path / "canvas.csv").read_bytes()
    assert read(tmp_path / "canvas.csv", "utf-8-sig", ";") == [
        ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", f"{FUSED} (4711)"],
        ["", "", "", "", "", ""],
        ["    Points Possible", "", "", "", "", "2.0"],
        ["Lovelace, Ada", "7", "-0012", "'+ada", "Mon", "2"],
        ["Lovelace, Ada", "7", "-0012", "'+ada", "Tue", "2"],
        ["'=cmd|x, Bob", "8", "0013", "bob@x.org", "Mon", "1"],
        ["Student, Test", "", "", "", "Mon", ""],
        ["cyd", "", "", "cyd", "", ""],  # not on the list: a row all the same
        ["'=1+1", "", "", "dan", "", ""],
    ]


def test_moodle_rows_of_who_is_not_in_its_worksheet(tmp_path: Path) -> None:
    book = made(tmp_path, LINES, STUDENTS, WORKSHEET_EMPTY)
    write_moodle(book, tmp_path / "moodle.csv")
    header, ada, bob, cyd, dan = read(tmp_path / "moodle.csv")
    assert header == [
        *("Identifier", "Full name", "ID number", "Email address"),
        *("Grade", "Feedback comments"),
    ]
    assert ada[:5] == ["ada", "Lovelace, Ada", "ada", "ada@x.org", "2"]
    assert ada[5] == f"{FUSED} (late): 2 of 2 points."
    assert bob[5] == f"{FUSED}: 1 of 2 points; to mend: dz (fail)."
    assert cyd[4:] == ["", f"{FUSED}: unreadable."]
    assert dan[:2] == ["dan", "'=1+1"]


def test_moodles_feedback_says_what_came_in_the_place_of_a_notebook(tmp_path: Path) -> None:
    lines = [*LINES, unreadable("dan/essay.pdf", "dan", "dan/essay.pdf is a document.")]
    book = made(tmp_path, lines, STUDENTS, WORKSHEET_EMPTY)
    write_moodle(book, tmp_path / "moodle.csv")
    dan = read(tmp_path / "moodle.csv")[4]
    assert dan[4:] == ["", f"{FUSED}: missing. essay.pdf: unreadable."]


MOODLE = Roster(
    "moodle",
    header=(
        *("Identifier", "Full name", "Email address", "Status", "Grade", "Maximum Grade"),
        *("Last modified (grade)", "Feedback comments"),
    ),
    above=(),
    rows=(
        RosterRow(("Participant 2", "Bob", "bob@x.org", "Submitted", "", "100,00", "-", ""), "bob"),
        RosterRow(("Participant 1", "Ada", "ada@x.org", "", "50,00", "10.00", "-", "old"), "ada"),
        RosterRow(("Participant 3", "Eve", "eve@x.org", "", "", "100", "-", ""), ""),
    ),
    form=CsvForm(),
)


def test_moodle_gets_its_own_rows_back(tmp_path: Path) -> None:
    book = made(tmp_path, LINES[:3], STUDENTS, MOODLE)
    write_moodle(book, tmp_path / "moodle.csv")
    header, *rows = read(tmp_path / "moodle.csv")
    assert tuple(header) == MOODLE.header
    assert [row[:7] for row in rows] == [
        ["Participant 2", "Bob", "bob@x.org", "Submitted", "50", "100,00", "-"],
        ["Participant 1", "Ada", "ada@x.org", "", "10", "10.00", "-"],
        ["Participant 3", "Eve", "eve@x.org", "", "", "100", "-"],
        ["dan", "'=1+1", "", "", "", "", ""],
    ]
    assert rows[1][7] == f"{FUSED} (late): 2 of 2 points."


def test_canvas_with_names_in_two_columns(tmp_path: Path) -> None:
    rows = (RosterRow(("=Love", "Ada", "7", "ada", "Mon"), "ada"),)
    header = ("LastName", "FirstName", "ID", "SIS Login ID", "Section")
    roster = Roster("canvas", header, (), rows, CsvForm())
    book = made(tmp_path, LINES[:1], STUDENTS[:2], roster)
    write_canvas(book, tmp_path / "canvas.csv")
    assert read(tmp_path / "canvas.csv") == [
        [*header, FUSED],
        ["    Points Possible", "", "", "", "", "2"],
        ["'=Love", "Ada", "7", "ada", "Mon", "2"],
        ["'=1+1", "", "", "dan", "", ""],
    ]


OTHER_MOODLE = Roster("moodle", ("First name", "ID number", FUSED), (), (), CsvForm())


@pytest.mark.parametrize(
    ("roster", "written"),
    [(CANVAS, ["canvas"]), (MOODLE, ["moodle"]), (OTHER_MOODLE, []), (None, [])],
)
def test_a_platforms_file_needs_its_own_list(
    tmp_path: Path, roster: Roster | None, written: list[str]
) -> None:
    book = made(tmp_path, LINES, STUDENTS, roster)
    for name, write in (("canvas", write_canvas), ("moodle", write_moodle)):
        path = tmp_path / f"{name}.csv"
        path.write_text("of an earlier run")
        write(book, path)
        assert path.exists() == (name in written)


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        ("Ada", "Ada"),
        ("=1+1", "'=1+1"),
        ("\t=1+1", "'=1+1"),
        ("\r\n@SUM(1)", "'@SUM(1)"),
        ("Ada; =1", "Ada; '=1"),
        ("＝1", "'＝1"),
        ("-5", "-5"),  # a number is nothing else
        ("+12,5 %", "'+12,5 %"),
        ("'=1", "''=1"),
        ("a=b, c-d", "a=b, c-d"),
        ("", ""),
    ],
)
def test_a_text_is_no_formula(text: str, cell: str) -> None:
    assert text_cell(text) == cell


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        ("Good work; -1 for style", "Good work; -1 for style"),
        ("see me; = is no ==", "see me; = is no =="),
        ("-1 for style", "'-1 for style"),
        ("\t=1+1", "'=1+1"),
        ("'=1", "''=1"),
        ("-5", "-5"),
    ],
)
def test_the_instructors_words_stay_as_they_are_but_for_their_beginning(
    text: str, cell: str
) -> None:
    assert own_cell(text) == cell


def test_comments_reach_the_tables_as_they_are(tmp_path: Path) -> None:
    said = "Good work; -1 for style"
    lines = [graded("a;=1.ipynb", "ada", "pp"), graded("b;=1.ipynb", "ada", "pp")]
    folder = class_of(lines, roster=WORKSHEET_EMPTY)
    change = Change("Line 2", "ada", FUSED, comment=said)
    results = journal(tmp_path / "results.sqlite", lines)
    book = make_book(folder, results, Rubric(), adjustments={"ada": (change,)})
    write_grades(book, tmp_path / "grades.csv")
    write_moodle(book, tmp_path / "moodle.csv")
    (ada,) = read(tmp_path / "grades.csv", "utf-8-sig")[1:]
    assert ada[-1] == said
    assert "not a;'=1.ipynb" in ada[-3]  # a file's name is a student's
    assert read(tmp_path / "moodle.csv")[1][-1] == f"{FUSED}: 2 of 2 points. {said}"


@pytest.mark.parametrize(
    "id_",
    [
        *("00123", "-1234", "+46701234567", "ada@uni.example", "-"),
        *("Участник 7", "Participant 4711", "s123/45", "Zoe\u0308", "  padded ", "a,b;c", '"'),
    ],
)
def test_an_id_comes_back_as_it_went_in(id_: str) -> None:
    assert id_cell(id_) == id_


@pytest.mark.parametrize(
    "id_",
    [
        *("=1+1", "-2+3", "+ada", "@ada", "@SUM(1)", "'=1", "''@x", "+cmd|' /C calc'!A0", "a;=1"),
        *("+ada.b-c@uni.example", "a; '-b", "＝1"),
    ],
)
def test_an_id_that_could_be_a_call_is_escaped_and_read_back(id_: str, tmp_path: Path) -> None:
    assert id_cell(id_) != id_
    lines = [graded("a", id_, "pp")]
    book = made(tmp_path, lines, [Student(id_)], WORKSHEET_EMPTY)
    for write in (write_grades, write_moodle):
        write(book, tmp_path / "out.csv")
        assert [student.id for student in read_roster(tmp_path / "out.csv").students] == [id_]


@given(HOSTILE)
def test_no_text_begins_like_a_formula(text: str) -> None:
    for cell in (text_cell(text), id_cell(text)):
        assert cell.isprintable()
        if cell.lstrip().startswith(DANGEROUS):
            assert re.fullmatch(r"[+-](\d+([.,]\d+)?%?)?", cell)
        for part in cell.split(";")[1:]:
            assert not part.lstrip().startswith(DANGEROUS)
