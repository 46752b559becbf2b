from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from corpus.readers.lecture_course import COURSE
from grader.classroom.gradebook.adjustments import Change
from grader.classroom.gradebook.book import Book, Record
from grader.classroom.gradebook.codes import Status
from grader.classroom.gradebook.make_book import make_book
from grader.classroom.gradebook.platform_form import PlatformForm
from grader.classroom.gradebook.rubric import Rubric, parse_rubric
from grader.classroom.intake.class_folder import Roster, Student
from grader.classroom.run.results import BrokenResults
from grader.classroom.spreadsheet import CsvForm
from tests.helpers.lines import (
    BATCHNORM,
    FUSED,
    Document,
    class_of,
    graded,
    journal,
    spoil,
    unreadable,
)
from tests.helpers.made_class import make_class

ADA = Student("ada", "Lovelace, Ada")


def book_of(tmp_path: Path, lines: list[Document], rubric: str = "", **folder: Any) -> Book:
    path = journal(tmp_path / "results.sqlite", lines)
    return make_book(class_of(lines, **folder), path, parse_rubric(rubric, COURSE))


def row_of(tmp_path: Path, lines: list[Document], rubric: str = "", **folder: Any) -> Record:
    (row,) = book_of(tmp_path, lines, rubric, **folder).rows()
    return row


def test_everybody_has_a_row(tmp_path: Path) -> None:
    book = book_of(
        tmp_path,
        [graded("a.ipynb", "ada", "pp"), unreadable("x.bin", "eve")],
        students=[ADA, Student("bob")],
    )
    status = {row["student"].id: str(row["status"]) for row in book.rows()}
    assert status == {
        "ada": "graded",
        "bob": "missing",
        "eve": "unreadable",
    }
    assert book.students[0].name == "Lovelace, Ada"


def test_a_notebook_that_few_handed_in_is_in_nobodys_maximum(tmp_path: Path) -> None:
    stray = graded("x", "s0", "pppppp", BATCHNORM)
    lines = [*(graded(f"{number}", f"s{number}", "pp") for number in range(3)), stray]
    book = book_of(tmp_path, lines)
    assert [int(row["max_points"]) for row in book.rows()] == [2] * 3
    assert book.handed_in == {FUSED: 3, BATCHNORM: 1}
    assert [file["id"] for file in next(book.rows())["elsewhere"]] == ["x"]
    header = "Student", "ID", "03 Fused Batchnorm (77)"
    roster = Roster("canvas", header, (), (), CsvForm())
    folder = replace(class_of(lines), roster=roster)
    adjusted = {"s1": (Change("line 2", "s1", notebook=BATCHNORM, excused=True),)}
    results = journal(tmp_path / "results.sqlite", lines)
    for other in (
        book_of(tmp_path, lines[:2] + lines[-1:]),
        make_book(folder, results, Rubric()),
        make_book(class_of(lines), results, Rubric(), form=PlatformForm("none", {BATCHNORM: "x"})),
        make_book(class_of(lines), results, Rubric(), adjustments=adjusted),
    ):
        assert [*other.columns] == [FUSED, BATCHNORM]


@pytest.mark.slow
def test_points_are_the_contracts_without_a_rubric(tmp_path: Path) -> None:
    made = make_class(40)
    book = make_book(made.folder, made.write(tmp_path / "results.sqlite"), Rubric())
    scores = {line["id"]: line["score"] for line in made.lines if "error" not in line}
    cells = [cell for row in book.rows() for cell in row["cells"] if cell["counts"]]
    assert len(cells) > 100
    assert all(cell["counts"] and cell["points"] == scores[cell["counts"]["id"]] for cell in cells)


@pytest.mark.parametrize(
    ("rubric", "points"),
    [
        ("", "2"),
        ("[ex2]\ndlogits = 3", "4"),
        ("[ex2s]\ndefault = 5", "6"),
        ("carried = 0.5", "1.5"),
        ("default = 3\ncarried = 0", "3"),
    ],
)
def test_a_rubric_says_what_gradients_earn(tmp_path: Path, rubric: str, points: str) -> None:
    row = row_of(tmp_path, [graded("a.ipynb", "ada", "pc")], rubric)
    assert float(row["points"]) == float(points)


def test_a_late_file_keeps_its_share(tmp_path: Path) -> None:
    row = row_of(tmp_path, [graded("a.ipynb", "ada", "pp", late=True)], "late = 0.75")
    assert row["status"] == Status.LATE
    assert (float(row["points"]), float(row["max_points"])) == (1.5, 2)


@pytest.mark.parametrize(
    ("others", "superseded", "points"),
    [
        ([graded("b", "ada", "ff", attempt=1)], ["a"], 0),
        ([graded("b", "ada", "ff")], ["a"], 0),  # the later name, where nothing else tells
        ([graded("0", "ada", "ff", submitted="2026-11-01T10:00:00+00:00")], ["a"], 0),
        ([unreadable(f"b-{FUSED}.ipynb", "ada", attempt=7)], [], 2),
    ],
)
def test_the_newest_file_that_could_be_graded_counts(
    tmp_path: Path, others: list[Document], superseded: list[str], points: int
) -> None:
    for lines in ([graded("a", "ada", "pp"), *others], [*others, graded("a", "ada", "pp")]):
        (cell,) = row_of(tmp_path, lines)["cells"]
        assert [file["id"] for file in cell["superseded"]] == superseded
        assert cell["points"] == points
        assert len(cell["superseded"]) + len(cell["unreadable"]) == 1


def test_zones_are_minded(tmp_path: Path) -> None:
    lines = [
        graded("a", "ada", "pp", submitted="2026-11-01T10:00:00+05:00"),
        graded("b", "ada", "ff", submitted="2026-11-01T06:00:00+00:00"),
    ]
    (cell,) = row_of(tmp_path, lines)["cells"]
    assert cell["counts"]
    assert cell["counts"]["id"] == "b"


def test_a_file_graded_again_stands_once(tmp_path: Path) -> None:
    row = row_of(tmp_path, [graded("a", "ada", "ff"), graded("a", "ada", "pp")])
    assert row["points"] == 2
    assert len(row["files"]) == 1


def test_columns_are_what_was_handed_in(tmp_path: Path) -> None:
    lines = [graded("a", "ada", "pp"), graded("b", "ada", "pppppp", BATCHNORM)]
    assert [*book_of(tmp_path, lines).columns] == [FUSED, BATCHNORM]
    assert len(book_of(tmp_path, []).columns) == 4
    one = book_of(tmp_path, lines, f'notebooks = ["{FUSED}"]')
    assert [*one.columns] == [FUSED]
    assert [file["id"] for file in next(one.rows())["elsewhere"]] == ["b"]


def test_an_unreadable_file_belongs_to_the_notebook_it_is_named_after(tmp_path: Path) -> None:
    lines = [
        graded("z", "bob", "pp"),
        unreadable("ada/02-Fused Cross_Entropy (1).ipynb", "ada"),
        unreadable("ada/notes.ipynb", "ada"),
    ]
    ada = next(book_of(tmp_path, lines).rows())
    assert ada["cells"][0]["status"] == Status.UNREADABLE
    assert [file["path"] for file in ada["elsewhere"]] == ["ada/notes.ipynb"]


def test_a_notebooks_own_name_may_have_capitals_and_hyphens(tmp_path: Path) -> None:
    course = replace(COURSE, exercises=(replace(COURSE.exercises[0], notebook="RNN-cell"),))
    lines = [unreadable("rnn_cell.ipynb", "ada")]
    path = journal(tmp_path / "results.sqlite", lines)
    book = make_book(class_of(lines), path, parse_rubric("", course))
    assert next(book.rows())["cells"][0]["status"] == Status.UNREADABLE


def test_flags_of_all_files_count(tmp_path: Path) -> None:
    flag = {"kind": "autograd", "line": 3, "message": "m", "cell": "ex2-a"}
    lines = [
        graded("a", "ada", "pp", flags=[flag]),
        graded("b", "ada", "pp", flags=[flag, flag]),
        unreadable("c", "ada", flags=[{**flag, "kind": "bomb"}]),
    ]
    assert sorted(row_of(tmp_path, lines)["flags"]) == ["autograd"] * 3 + ["bomb"]


def test_the_order_of_the_results_does_not_matter(tmp_path: Path) -> None:
    lines = [graded(f"{n % 7}-{n}", f"s{n % 7}", "pc", attempt=n % 3) for n in range(30)]

    def files(book: Book) -> list[list[str]]:
        return [[file["id"] for file in row["files"]] for row in book.rows()]

    first = files(book_of(tmp_path, lines))
    for seed in range(5):
        random.Random(seed).shuffle(lines)
        assert files(book_of(tmp_path, lines)) == first


@pytest.mark.parametrize("text", ["{]", "[]", "{}", '{"format": 9}'])
def test_says_what_is_no_result(tmp_path: Path, text: str) -> None:
    path = journal(tmp_path / "results.sqlite", [graded("a", "ada", "pp")])
    spoil(path, text)
    with pytest.raises(BrokenResults, match=r"^A row of .*results.sqlite is not a result"):
        make_book(class_of([]), path, Rubric())


def test_says_when_there_are_no_results(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        make_book(class_of([]), tmp_path / "results.sqlite", Rubric())
