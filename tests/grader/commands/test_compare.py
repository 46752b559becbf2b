"""`grader compare` as it is typed."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from grader import cli
from grader.commands import exit_codes
from tests.helpers.lines import graded, journal

Capture = pytest.CaptureFixture[str]


def book(folder: Path, outcomes: str) -> str:
    folder.mkdir()
    journal(folder / "results.sqlite", [graded("a.ipynb", "ada", outcomes)])
    return str(folder)


@pytest.fixture
def books(tmp_path: Path) -> list[str]:
    return [book(tmp_path / "old", "ft"), book(tmp_path / "new", "pp")]


@pytest.mark.slow
def test_two_gradebooks_are_compared_and_left_as_they_are(books: list[str]) -> None:
    before = sorted(Path(books[0]).parent.rglob("*"))
    command = [str(Path(sys.executable).with_name("grader")), "compare", *books]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (exit_codes.PASSED, "")
    assert "  ada  0 → 2  now right: dlogits and dz" in done.stdout.splitlines()
    assert sorted(Path(books[0]).parent.rglob("*")) == before


def test_json(books: list[str], capsys: Capture) -> None:
    assert cli.main(["compare", *books, "--json"]) == exit_codes.PASSED
    assert json.loads(capsys.readouterr().out)["moved"][0]["student"] == "ada"


def test_a_rubric_says_what_points_are(books: list[str], tmp_path: Path, capsys: Capture) -> None:
    rubric = tmp_path / "rubric.toml"
    rubric.write_text("[ex2]\ndlogits = 3\n")
    assert cli.main(["compare", *books, "--rubric", str(rubric)]) == exit_codes.PASSED
    assert "ada  0 → 4" in capsys.readouterr().out


def test_notebooks_that_are_not_due_do_not_count(books: list[str], capsys: Capture) -> None:
    assert cli.main(["compare", *books, "--due-notebooks", "03"]) == exit_codes.PASSED
    assert "0 → 2" not in capsys.readouterr().out
    assert cli.main(["compare", *books, "--due-notebooks", "2"]) == exit_codes.PASSED
    assert "ada  0 → 2" in capsys.readouterr().out
    assert cli.main(["compare", *books, "--due-notebooks", "9"]) == exit_codes.UNREADABLE


def test_what_is_no_gradebook_gets_a_sentence(
    books: list[str], tmp_path: Path, capsys: Capture
) -> None:
    assert cli.main(["compare", books[0], str(tmp_path)]) == exit_codes.UNREADABLE
    assert "holds no gradebook" in capsys.readouterr().err


def test_results_that_are_none_are_refused(books: list[str], capsys: Capture) -> None:
    (Path(books[1]) / "results.sqlite").write_text("ada, 2")
    assert cli.main(["compare", *books]) == exit_codes.UNREADABLE
    assert "is not what a run has written" in capsys.readouterr().err


def with_two_attempts(folder: Path) -> Path:
    lines = [graded("a.ipynb", "ada", "pp"), graded("a (1).ipynb", "ada", "tt", attempt=1)]
    journal(folder / "results.sqlite", lines)
    return folder


@pytest.mark.parametrize(("which", "points"), [("best", "0 → 2"), ("first", "0 → 2")])
def test_which_of_several_files_counts(
    which: str, points: str, books: list[str], capsys: Capture
) -> None:
    with_two_attempts(Path(books[1]))
    assert cli.main(["compare", *books]) == exit_codes.PASSED
    assert f"ada  {points}" not in capsys.readouterr().out
    assert cli.main(["compare", *books, "--attempts", which]) == exit_codes.PASSED
    assert f"ada  {points}" in capsys.readouterr().out


def test_each_gradebook_has_its_own_adjustments(books: list[str], capsys: Capture) -> None:
    (Path(books[1]) / "grades.csv").write_text("id,name,email\nada,Ada,ada@x.org\n")
    adjustments = Path(books[1]) / "adjustments.csv"
    adjustments.write_text("id,notebook,points,comment\nada@x.org,02,0.5,oral exam\n")
    assert cli.main(["compare", *books]) == exit_codes.PASSED
    out = capsys.readouterr().out
    assert "Ada (ada)  0 → 0.5  now right: dlogits and dz; adjusted by the instructor" in out
    assert "oral exam" not in out


def test_who_is_excused_in_one_has_neither_more_nor_fewer_points(
    books: list[str], capsys: Capture
) -> None:
    (Path(books[0]) / "grades.csv").write_text("id,name,email\nada,Ada,ada@x.org\n")
    (Path(books[0]) / "adjustments.csv").write_text("id,notebook,excused\nada,02,yes\n")
    assert cli.main(["compare", *books]) == exit_codes.PASSED
    out = capsys.readouterr().out
    assert re.search(r"Ada \(ada\)  excused → \d", out)
    assert "0 with more points, 0 with fewer" in out
    assert "1 excused in one of them" in out
    assert cli.main(["compare", *books, "--json"]) == exit_codes.PASSED
    (moved,) = [m for m in json.loads(capsys.readouterr().out)["moved"] if m["student"] == "ada"]
    assert moved["before"] is None


def test_adjustments_of_both_gradebooks(books: list[str], tmp_path: Path, capsys: Capture) -> None:
    for book_ in books:
        (Path(book_) / "grades.csv").write_text("id,name,email\nada,Ada,ada@x.org\n")
    both = tmp_path / "both.csv"
    both.write_text("id,notebook,points\nada,02,1\n")
    assert cli.main(["compare", *books, "--adjustments", str(both)]) == exit_codes.PASSED
    assert "Ada (ada)  1 → 1  now right" in capsys.readouterr().out


def test_adjustments_of_a_stranger_are_refused(books: list[str], capsys: Capture) -> None:
    (Path(books[0]) / "grades.csv").write_text("id,name,email\nada,Ada,ada@x.org\n")
    (Path(books[0]) / "adjustments.csv").write_text("id,points\nzoe,1\n")
    assert cli.main(["compare", *books]) == exit_codes.UNREADABLE
    assert "nobody in the class has the id 'zoe'" in capsys.readouterr().err


def test_another_courses_adjustments_ask_for_the_course(books: list[str], capsys: Capture) -> None:
    header = "id,name,email,01_block,01_block max\n"
    (Path(books[0]) / "grades.csv").write_text(f"{header}ada,Ada,ada@x.org,1,13\n")
    (Path(books[0]) / "adjustments.csv").write_text("id,points\nada,1\n")
    assert cli.main(["compare", *books]) == exit_codes.UNREADABLE
    assert "has notebooks that are not in this course: 01_block" in capsys.readouterr().err
