from __future__ import annotations

import csv
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from corpus.readers.lecture_course import COURSE
from grader.classroom.gradebook.adjustments import NONE, read_adjustments
from grader.classroom.gradebook.book import Book
from grader.classroom.gradebook.codes import Attempts
from grader.classroom.gradebook.grades_csv import write_grades
from grader.classroom.gradebook.make_book import make_book
from grader.classroom.gradebook.platform_csv import about_platform, write_canvas, write_moodle
from grader.classroom.gradebook.platform_form import (
    AS_THEY_ARE,
    PlatformForm,
    UnknownColumn,
    read_scale,
    refuse_unknown_columns,
)
from grader.classroom.gradebook.report.class_summary import figures
from grader.classroom.gradebook.rubric import parse_rubric
from grader.classroom.intake.class_folder import HandedIn
from grader.classroom.intake.roster_file import read_roster
from tests.helpers.lines import BATCHNORM, FUSED, class_of, graded, journal

CANVAS = (
    "Student,ID,SIS User ID,SIS Login ID,Section,HW 1 (4711),HW 2 (4712),Final Score\n"
    "    Points Possible,,,,,10,6,(read only)\n"
    '"Lovelace, Ada",1,,ada,A,,,\n'
    '"Byron, Bob",2,,bob,A,,,\n'
    '"Student, Test",3,,t,A,,,\n'
)
MOODLE = (
    "Identifier,Full name,Email address,Grade,Maximum Grade,Feedback comments\n"
    "Participant 1,Ada,ada@x.org,,47.00,\n"
    "Participant 2,Bob,bob@x.org,,47.00,\n"
)
LINES = [  # of Ada 6 of 8 points, of Bob 1 of 8
    graded("a2", "ada", "pp"),
    graded("a3", "ada", "ppppff", BATCHNORM),
    graded("b2", "bob", "pf"),
]


def made(
    tmp_path: Path,
    roster: str,
    adjustments: str = "",
    form: PlatformForm = AS_THEY_ARE,
    rubric: str = "",
    convention: str = "flat",
) -> Book:
    (tmp_path / "roster.csv").write_text(roster, encoding="utf-8")
    classes = read_roster(tmp_path / "roster.csv")
    ids = dict(zip(("ada", "bob"), classes.students, strict=False))
    lines = [{**line, "student": ids[line["student"]].id} for line in LINES]
    students = [who for who in classes.students if who.id != classes.tester]
    class_folder = class_of(lines, students, roster=classes.roster)
    class_folder = replace(class_folder, convention=convention)
    found = NONE
    if adjustments:
        (tmp_path / "adjustments.csv").write_text(adjustments, encoding="utf-8")
        found = read_adjustments(tmp_path / "adjustments.csv", COURSE, students)
    results = journal(tmp_path / "results.sqlite", lines)
    points = parse_rubric(rubric, COURSE)
    return make_book(class_folder, results, points, Attempts.LATEST, found, form)


def read(path: Path) -> list[list[str]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.reader(file))


def form(scale: str = "platform", **columns: str) -> PlatformForm:
    return PlatformForm(read_scale(scale), columns)


@pytest.mark.parametrize(
    ("wanted", "header", "rows"),
    [
        (
            PlatformForm(canvas_columns={"": "HW 1"}),
            ["HW 1 (4711)"],
            [["10"], ["7.5"], ["1.25"], [""]],
        ),
        (
            PlatformForm(read_scale("none"), {"": "HW 1 (4711)"}),
            ["HW 1 (4711)"],
            [["10"], ["6"], ["1"], [""]],
        ),
        (
            PlatformForm(canvas_columns={FUSED: "hw 1", BATCHNORM: "HW 2"}),
            ["HW 1 (4711)", "HW 2 (4712)"],
            [["10", "6"], ["10", "4"], ["5", ""], ["", ""]],
        ),
        (
            PlatformForm(canvas_columns={BATCHNORM: "HW 2"}),
            [FUSED, "HW 2 (4712)"],
            [["2", "6"], ["2", "4"], ["1", ""], ["", ""]],
        ),
        (
            PlatformForm(read_scale("80")),
            [FUSED, BATCHNORM],
            [["20", "60"], ["20", "40"], ["10", ""], ["", ""]],
        ),
    ],
)
def test_the_columns_that_canvas_gets(
    tmp_path: Path, wanted: PlatformForm, header: list[str], rows: list[list[str]]
) -> None:
    write_canvas(made(tmp_path, CANVAS, form=wanted), tmp_path / "canvas.csv")
    found = read(tmp_path / "canvas.csv")
    assert [row[5:] for row in found] == [header, *rows]
    assert [row[0] for row in found][1:] == [
        *("    Points Possible", "Lovelace, Ada", "Byron, Bob", "Student, Test"),
    ]


@pytest.mark.parametrize(
    ("scale", "grades", "said"),
    [
        ("platform", ["35.25", "5.88"], "points are scaled to 47."),
        ("none", ["6", "1"], "points are not scaled. The two differ"),
        ("16", ["12", "2"], "points are scaled to 16. The two differ"),
        ("47", ["35.25", "5.88"], "points are scaled to 47."),
    ],
)
def test_moodles_maximum(tmp_path: Path, scale: str, grades: list[str], said: str) -> None:
    book = made(tmp_path, MOODLE, form=form(scale))
    write_moodle(book, tmp_path / "moodle.csv")
    assert [row[3] for row in read(tmp_path / "moodle.csv")[1:]] == grades
    (notice,) = about_platform(book)
    assert notice.startswith(f"Moodle's maximum is 47, and {FUSED} and {BATCHNORM} are worth 8: ")
    assert said in notice
    assert notice.endswith(" --due-notebooks says which notebooks count.")
    chosen = made(tmp_path, MOODLE, form=form(scale), rubric='notebooks = ["02", "03"]')
    (notice,) = about_platform(chosen)
    assert said in notice
    assert "--" not in notice


def test_a_scale_that_was_chosen_for_one_notebook_needs_no_advice(tmp_path: Path) -> None:
    book = replace(made(tmp_path, MOODLE, form=form("100")), columns={FUSED: Fraction(2)})
    assert [*about_platform(book)] == [
        f"Moodle's maximum is 47, and {FUSED} is worth 2: points are scaled to 100. The two differ."
    ]


def test_points_of_two_assignments_of_moodles_in_one_column_are_told(tmp_path: Path) -> None:
    book = made(tmp_path, MOODLE.replace("47.00", "8.00"), convention="Moodle download")
    for second, said in (("hw1", 0), ("hw2", 1)):
        paths = "hw1/Ada_1_assignsubmission_file/a", f"{second}/Ada_7_assignsubmission_file/b"
        files = tuple(HandedIn(path, "ada", path) for path in paths)
        two = replace(book, class_folder=replace(book.class_folder, handed_in=files))
        assert [*about_platform(two)] == said * [
            f"Moodle's worksheet has one column, and it gets the points of 2 assignments added "
            f"together: {FUSED} and {BATCHNORM}. Make a gradebook for each instead, with another "
            "--out, of that assignment's download and worksheet alone."
        ]
        one = replace(two, columns={FUSED: Fraction(8)})
        assert [*about_platform(one)] == []


@pytest.mark.parametrize("name", ["Maximum grade", "Maximum Grade", "MAXIMUM GRADE"])
def test_moodles_maximum_however_its_capitals_are(tmp_path: Path, name: str) -> None:
    book = made(tmp_path, MOODLE.replace("Maximum Grade", name))
    write_moodle(book, tmp_path / "moodle.csv")
    assert [row[3:5] for row in read(tmp_path / "moodle.csv")] == [
        *(["Grade", name], ["35.25", "47.00"], ["5.88", "47.00"]),
    ]
    assert [*about_platform(book)]


@pytest.mark.parametrize(
    ("wanted", "grades"),
    [
        (form(), ["2", "4"]),  # of Canvas's new columns all points are the maximum, 2 and 6
        (form(**{FUSED: "HW 1", BATCHNORM: "HW 2"}), ["10", "4"]),
        (form("none"), ["1", "4"]),
        (form(**{"": "HW 1"}), ["7.14"]),
    ],
)
def test_what_is_excused_counts_neither_for_nor_against(
    tmp_path: Path, wanted: PlatformForm, grades: list[str]
) -> None:
    header = "id,notebook,gradient,excused\n"
    book = made(tmp_path, CANVAS, f"{header}1,02,dz,yes\n", wanted)
    write_canvas(book, tmp_path / "canvas.csv")
    assert read(tmp_path / "canvas.csv")[2][5:] == grades


WITHOUT = MOODLE.replace("47.00", "-")


@pytest.mark.parametrize(
    ("roster", "wanted", "grades"),
    [
        (WITHOUT, form(), ["5.71"]),  # 5 of the 7 points that are left, of 8
        (WITHOUT, form("none"), ["5"]),
        (WITHOUT, form("100"), ["71.43"]),
        (MOODLE, form(), ["33.57"]),
    ],
)
def test_what_is_excused_counts_neither_for_nor_against_in_moodle(
    tmp_path: Path, roster: str, wanted: PlatformForm, grades: list[str]
) -> None:
    excused = "id,notebook,gradient,excused\nParticipant 1,02,dz,yes\n"
    write_moodle(made(tmp_path, roster, excused, wanted), tmp_path / "moodle.csv")
    assert read(tmp_path / "moodle.csv")[1][3 : 3 + len(grades)] == grades


GERMAN = (
    "ID,Vollständiger Name,E-Mail-Adresse,Status,Bewertung,Bestwertung\n"
    "Teilnehmer/in1,Ada,ada@x.org,,,47.00\nTeilnehmer/in2,Bob,bob@x.org,,,47.00\n"
)


@pytest.mark.parametrize(
    ("roster", "convention", "said"),
    [
        (GERMAN, "Moodle download", True),
        ("Vorname,Nachname\nAda,L\nBob,B\n", "Moodle download", True),
        (GERMAN, "one folder a student", False),
        (MOODLE.replace("47", "8"), "Moodle download", False),
    ],
)
def test_a_list_that_is_no_worksheet_of_moodles_is_said_to_be_none(
    tmp_path: Path, roster: str, convention: str, said: bool
) -> None:
    notices = [*about_platform(made(tmp_path, roster, convention=convention))]
    assert [each.partition(",")[0] for each in notices] == [
        "The class list is not taken for Moodle's grading worksheet"
    ] * said


def test_a_platforms_maximum_that_is_the_points_needs_no_notice(tmp_path: Path) -> None:
    assert list(about_platform(made(tmp_path, MOODLE.replace("47.00", "8.00")))) == []
    (notice,) = about_platform(made(tmp_path, CANVAS))  # its own new columns have no maximum
    assert "has no column for" in notice
    total = PlatformForm(canvas_columns={"": "HW 1"})
    (notice,) = about_platform(made(tmp_path, CANVAS, form=total))
    assert notice.startswith("Canvas's HW 1 (4711) maximum is 10, and ")


def test_a_number_is_a_grade_in_the_gradebook_too(tmp_path: Path) -> None:
    write_grades(made(tmp_path, MOODLE, form=form("100")), tmp_path / "grades.csv")
    header, ada, bob = read(tmp_path / "grades.csv")
    place = header.index("grade")
    assert [row[place : place + 2] for row in (header, ada, bob)] == [
        *(["grade", "grade max"], ["75", "100"], ["12.5", "100"])
    ]


def test_what_the_instructor_decided_is_in_every_file(tmp_path: Path) -> None:
    decided = "id,notebook,points,excused,comment\n{},02,1,,copied\n{},03,,yes,ill\n"
    book = made(tmp_path, CANVAS, decided.format("1", "2"))
    write_canvas(book, tmp_path / "canvas.csv")
    assert [row[5:] for row in read(tmp_path / "canvas.csv")[2:4]] == [["1", "4"], ["1", "EX"]]
    total = PlatformForm(canvas_columns={"": "HW 1"})
    total_book = made(tmp_path, CANVAS, decided.format("1", "2"), total)
    write_canvas(total_book, tmp_path / "canvas.csv")
    # Who is excused from a notebook has 1 of 2 points: half of what the column takes.
    assert [row[5:] for row in read(tmp_path / "canvas.csv")[2:4]] == [["6.25"], ["5"]]
    write_grades(book, tmp_path / "grades.csv")
    header, ada, bob = read(tmp_path / "grades.csv")
    adjusted, comment = header.index("adjusted"), header.index("comment")
    assert (ada[adjusted], ada[comment]) == (f"{FUSED}: 1 point instead of 2", "copied")
    assert (bob[adjusted], bob[comment]) == (f"{BATCHNORM}: excused", "ill")
    assert bob[header.index("total max")] == "2"
    book = made(tmp_path, MOODLE, decided.format("Participant 1", "Participant 2"))
    write_moodle(book, tmp_path / "moodle.csv")
    ada, bob = read(tmp_path / "moodle.csv")[1:]
    assert "1 of 2 points (set by the instructor: 1 point instead of 2)" in ada[5]
    assert ada[5].endswith(" copied")
    assert bob[3] == "23.5"
    assert f"{BATCHNORM}: excused (set by the instructor: excused). ill" in bob[5]


THERE = r"there are HW 1 \(4711\) and HW 2 \(4712\)\.$"


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"": "HW 3"}, f"^Canvas's list has no column called 'HW 3'; {THERE}"),
        ({"": "Section"}, f"^Canvas's list has no column called 'Section'; {THERE}"),
        ({"": "final score"}, f"^Canvas computes its column 'final score' itself .*; {THERE}"),
        (
            {FUSED: "HW 2", BATCHNORM: "HW 2 (4712)"},
            rf"'HW 2 \(4712\)' cannot take the points of {FUSED} and {BATCHNORM} apart",
        ),
        ({"": "HW 2", FUSED: "hw 2"}, f"cannot take the points of all notebooks and {FUSED} apart"),
    ],
)
def test_a_column_that_cannot_take_the_points(
    tmp_path: Path, columns: dict[str, str], said: str
) -> None:
    roster = made(tmp_path, CANVAS).class_folder.roster
    with pytest.raises(UnknownColumn, match=said):
        refuse_unknown_columns(PlatformForm(canvas_columns=columns), roster)


def test_a_column_that_was_named_is_another_notebooks_own(tmp_path: Path) -> None:
    named = PlatformForm(canvas_columns={FUSED: BATCHNORM})
    book = made(tmp_path, CANVAS.replace("HW 2", BATCHNORM), form=named)
    with pytest.raises(UnknownColumn, match=f"cannot take the points of {FUSED} and {BATCHNORM}"):
        write_canvas(book, tmp_path / "c.csv")


def test_a_notebook_without_a_column_in_the_export_is_said(tmp_path: Path) -> None:
    named = PlatformForm(canvas_columns={FUSED: "HW 1"})
    column, maximum = about_platform(made(tmp_path, CANVAS, form=named))
    assert column == (
        f"The export that was given as --roster has no column for {BATCHNORM}: Canvas will offer "
        "to make a new assignment. --canvas-column names one that is there."
    )
    assert maximum.startswith("Canvas's HW 1 (4711) maximum is 10, and ")
    everything = PlatformForm(canvas_columns={"": "HW 1"})
    for book in (made(tmp_path, CANVAS, form=everything), made(tmp_path, MOODLE)):
        assert not any("no column" in notice for notice in about_platform(book))


def test_a_canvas_column_needs_canvas_list(tmp_path: Path) -> None:
    for roster in (made(tmp_path, MOODLE).class_folder.roster, None):
        with pytest.raises(UnknownColumn, match="needs Canvas's gradebook"):
            refuse_unknown_columns(PlatformForm(canvas_columns={"": "HW 1"}), roster)


def test_points_of_who_handed_in_nothing_go_everywhere_and_are_not_called_graded(
    tmp_path: Path,
) -> None:
    ids = "Participant 9", "9"
    rows = "Participant 9,Zoe,zoe@x.org,,47.00,\n", '"Woolf, Zoe",9,,zoe,A,,,\n'
    for roster, id_, row, write, grades in zip(
        (MOODLE, CANVAS), ids, rows, (write_moodle, write_canvas), ("5.88", "1"), strict=True
    ):
        book = made(tmp_path, roster + row, f"id,notebook,points\n{id_},02,1\n")
        write(book, tmp_path / "out.csv")
        (zoe,) = (line for line in read(tmp_path / "out.csv") if "Zoe" in "".join(line))
        assert zoe[5 if write is write_canvas else 3] == grades
        write_grades(book, tmp_path / "grades.csv")
        (zoe,) = (line for line in read(tmp_path / "grades.csv") if line[0] == id_)
        assert f"awarded {FUSED}; missing {BATCHNORM}" in zoe
        counted = dict(figures(book))
        assert (counted["graded"], counted["awarded"]) == ("2", "1")
        assert counted["handed in nothing"] == "0"
