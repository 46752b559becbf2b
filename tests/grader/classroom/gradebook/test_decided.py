from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from corpus.readers.lecture_course import COURSE
from grader.classroom.gradebook.about_book import about_rows
from grader.classroom.gradebook.adjustments import UnusableAdjustment, read_adjustments
from grader.classroom.gradebook.book import Book, Record
from grader.classroom.gradebook.codes import Attempts, Status
from grader.classroom.gradebook.make_book import make_book
from grader.classroom.gradebook.platform_csv import feedback
from grader.classroom.gradebook.rubric import parse_rubric
from grader.classroom.intake.class_folder import Student
from tests.helpers.lines import FUSED, Document, class_of, graded, journal, unreadable

MOMENT = "2026-11-21T10:00:00+00:00"
HEADER = "id,notebook,gradient,points,excused,due,attempt,comment\n"
LATE = "late = 0.5"


def book_of(tmp_path: Path, lines: list[Document], adjustments: str, rubric: str = "") -> Book:
    folder = class_of(lines, [Student("ada")])
    path = tmp_path / "adjustments.csv"
    path.write_text(HEADER + adjustments, encoding="utf-8")
    return make_book(
        folder,
        journal(tmp_path / "results.sqlite", lines),
        parse_rubric(f'notebooks = ["{FUSED}"]\n{rubric}', COURSE),
        Attempts.LATEST,
        read_adjustments(path, COURSE, folder.students),
    )


def row_of(tmp_path: Path, lines: list[Document], adjustments: str, rubric: str = "") -> Record:
    (row,) = book_of(tmp_path, lines, adjustments, rubric).rows()
    return row


@pytest.mark.parametrize(
    ("outcomes", "line", "points", "most", "said"),
    [
        ("pf", "ada,02,,2,,,,", 2, 2, ("2 points instead of 1",)),
        ("pf", "ada,02,,1,,,,", 1, 2, ("1 point",)),
        ("pp", "ada,02,dz,0,,,,", 1, 2, ("dz: 0 points", "1 point instead of 2")),
        ("pf", "ada,02,dz,,yes,,,", 1, 1, ("dz: excused",)),
        ("pp", "ada,,,,yes,,,", 0, 0, ("excused",)),
        ("pp", "ada,02,,,yes,,,\nada,02,,,no,,,", 2, 2, ()),
        ("pf", "ada,02,,,,,,well done", 1, 2, ()),
        # the last line about the same thing holds
        ("pf", "ada,02,,,yes,,,\nada,02,,2,,,,", 2, 2, ("2 points instead of 1",)),
        ("pf", "ada,02,,2,,,,\nada,02,,,yes,,,", 0, 0, ("excused",)),
        (
            "pf",
            "ada,02,dz,,yes,,,\nada,02,dz,1,,,,",
            2,
            2,
            ("dz: 1 point", "2 points instead of 1"),
        ),
        # A notebook is all of its gradients.
        ("pf", "ada,02,,,yes,,,\nada,02,dz,1,,,,", 1, 1, ("dz: 1 point", "excused but for dz")),
        ("pf", "ada,02,,,yes,,,\nada,02,dlogits,,no,,,", 1, 1, ("excused but for dlogits",)),
        ("pf", "ada,02,dz,1,,,,\nada,02,,,yes,,,", 0, 0, ("excused",)),
        ("pf", "ada,02,dz,1,,,,\nada,02,dz,,yes,,,", 1, 1, ("dz: excused",)),
        ("pf", "ada,02,dz,,yes,,,\nada,02,,2,,,,", 2, 2, ("2 points instead of 1",)),
        ("pf", "ada,02,,2,,,,\nada,02,dz,,yes,,,", 1, 1, ("dz: excused", "1 point")),
        ("pf", "ada,02,dz,,yes,,,\nada,02,dlogits,,yes,,,", 0, 0, ("excused",)),
    ],
)
def test_what_the_instructor_decides_holds(
    tmp_path: Path, outcomes: str, line: str, points: int, most: int, said: tuple[str, ...]
) -> None:
    row = row_of(tmp_path, [graded("a", "ada", outcomes)], line + "\n")
    assert (float(row["points"]), float(row["max_points"])) == (points, most)
    assert row["cells"][0]["adjusted"] == [*said]
    assert row["adjusted"] == bool(said or "well done" in line)


def test_points_without_a_file(tmp_path: Path) -> None:
    for lines, status in (
        ([], Status.MISSING),
        ([unreadable(f"{FUSED}.ipynb", "ada")], "unreadable"),
    ):
        assert row_of(tmp_path, lines, "")["cells"][0]["status"] == status
        row = row_of(tmp_path, lines, "ada,02,,1.5,,,,oral exam\n")
        assert row["graded"]
        assert (row["status"], float(row["points"])) == (Status.AWARDED, 1.5)
        assert row["cells"][0]["comments"] == ["oral exam"]
        by_gradient = row_of(tmp_path, lines, "ada,02,dz,1,,,,\n")
        assert (by_gradient["points"], by_gradient["status"]) == (Fraction(1), Status.AWARDED)
        assert by_gradient["graded"]
    assert (
        row_of(tmp_path, [graded("a", "ada", "pf")], "ada,02,,2,,,,\n")["status"] == Status.GRADED
    )


def test_excused_is_not_missing(tmp_path: Path) -> None:
    row = row_of(tmp_path, [], "ada,02,,,yes,,,ill\n")
    assert row["status"] == Status.EXCUSED
    assert not row["graded"]


@pytest.mark.parametrize(
    ("due", "late"), [("2026-11-20", True), ("2026-11-21", False), ("2026-11-21T09:00Z", True)]
)
def test_an_extension(tmp_path: Path, due: str, late: bool) -> None:
    lines = [graded("a", "ada", "pp", late=True, submitted=MOMENT)]
    assert row_of(tmp_path, lines, "", LATE)["points"] == 1
    row = row_of(tmp_path, lines, f"ada,,,,,{due},,\n", LATE)
    assert row["points"] == (1 if late else 2)
    assert row["status"] == (Status.LATE if late else Status.GRADED)
    assert row["cells"][0]["adjusted"][0].startswith("due ")


@pytest.mark.parametrize("late", [True, False])
def test_an_extension_where_no_time_is_known_is_for_the_student(tmp_path: Path, late: bool) -> None:
    lines = [graded("a", "ada", "pp", late=late)]
    book = book_of(tmp_path, lines, "ada,,,,,2027-01-01,,\n", LATE)
    (row,) = book.rows()
    assert (float(row["points"]), row["status"]) == (2, Status.GRADED)
    due, *more = row["cells"][0]["adjusted"]
    assert due == "due 01 Jan 2027, 23:59, and it is not counted as late"
    assert more == (["2 points instead of 1"] if late else [])
    assert list(about_rows(book))[1:] == [
        "Extended for ada: nobody knows when it was handed in, so it does not count as late."
    ]
    assert feedback(row, book).startswith(f"{FUSED}: 2 of 2 points (set by the instructor: {due}")


def test_an_extension_says_nothing_of_time_where_nothing_came(tmp_path: Path) -> None:
    row = row_of(tmp_path, [], "ada,,,,,2027-01-01,,\n", LATE)
    assert row["cells"][0]["adjusted"] == ["due 01 Jan 2027, 23:59"]
    assert not row["cells"][0]["untimed"]


def test_points_where_nothing_came_stand_in_no_others_place(tmp_path: Path) -> None:
    row = row_of(tmp_path, [], "ada,02,,1,,,,\n")
    assert row["cells"][0]["adjusted"] == ["1 point"]
    row = row_of(tmp_path, [graded("a", "ada", "pp")], "ada,02,,1,,,,\n")
    assert row["cells"][0]["adjusted"] == ["1 point instead of 2"]


@pytest.mark.parametrize(("wanted", "taken"), [("1", "x/a"), ("2", "x/b"), ("a", "x/a")])
def test_the_attempt_that_counts(tmp_path: Path, wanted: str, taken: str) -> None:
    lines = [graded("x/a", "ada", "pp"), graded("x/b", "ada", "ff"), graded("x/c", "ada", "ff")]
    row = row_of(tmp_path, lines, f"ada,02,,,,,{wanted},\n")
    (cell,) = row["cells"]
    assert cell["counts"]
    assert cell["counts"]["id"] == taken
    assert cell["why"] == "the one that the instructor named"
    assert cell["adjusted"][0] == f"attempt {'ab'.index(taken[-1]) + 1} of 3 counts"
    assert len(cell["superseded"]) == 2


def test_an_attempt_that_is_not_there(tmp_path: Path) -> None:
    said = r"Line 2 of .*: ada has no attempt '3'; there are 1 \(a\) and 2 \(b\)\."
    with pytest.raises(UnusableAdjustment, match=said):
        row_of(tmp_path, [graded(id_, "ada", "pp") for id_ in "ab"], "ada,02,,,,,3,\n")


def test_a_comment_on_everything_stands_once(tmp_path: Path) -> None:
    row = row_of(tmp_path, [graded("a", "ada", "pp")], "ada,,,,,,,see me\n")
    assert row["comments"] == ["see me"]
    assert row["cells"][0]["comments"] == []
