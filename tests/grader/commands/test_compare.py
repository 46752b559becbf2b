"""`grader compare` as it is typed."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from grader import cli
from grader.classroom.gradebook.adjustments import Change
from grader.classroom.gradebook.codes import Attempts
from grader.classroom.gradebook.make_book import make_book
from grader.classroom.gradebook.rubric import Rubric
from grader.classroom.gradebook.write import render
from grader.commands import exit_codes
from tests.helpers.lines import FUSED, Document, class_of, graded, journal

Capture = pytest.CaptureFixture[str]


def write(folder: Path, lines: list[Document], *how: Any, **named: Any) -> str:
    folder.mkdir()
    results = journal(folder / "results.sqlite", lines)
    render(make_book(class_of(lines), results, *(how or [Rubric()]), **named), folder)
    return str(folder)


def book(folder: Path, outcomes: str) -> str:
    return write(folder, [graded("a.ipynb", "ada", outcomes)])


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


def test_what_is_no_gradebook_gets_a_sentence(
    books: list[str], tmp_path: Path, capsys: Capture
) -> None:
    assert cli.main(["compare", books[0], str(tmp_path)]) == exit_codes.UNREADABLE
    assert "holds no gradebook" in capsys.readouterr().err


def test_results_that_are_none_are_refused(books: list[str], capsys: Capture) -> None:
    (Path(books[1]) / "results.sqlite").write_text("ada, 2")
    assert cli.main(["compare", *books]) == exit_codes.UNREADABLE
    assert "is not what a run has written" in capsys.readouterr().err


def test_what_counted_in_each_gradebook_counts(
    books: list[str], tmp_path: Path, capsys: Capture
) -> None:
    lines = [graded("a.ipynb", "ada", "pp"), graded("a (1).ipynb", "ada", "tt", attempt=1)]
    rubric = replace(Rubric(), default=Fraction(3))
    changes = {"ada": (Change("Line 2", "ada", FUSED, points=Fraction(5), comment="oral exam"),)}
    write(tmp_path / "best", lines, rubric, Attempts.BEST, changes)
    assert cli.main(["compare", books[0], str(tmp_path / "best")]) == exit_codes.PASSED
    out = capsys.readouterr().out
    assert "  ada  0 → 5  now right: dlogits and dz; adjusted by the instructor" in out
    assert "oral exam" not in out


def test_who_is_excused_in_one_has_neither_more_nor_fewer_points(
    books: list[str], tmp_path: Path, capsys: Capture
) -> None:
    excused = {"ada": (Change("Line 2", "ada", FUSED, excused=True),)}
    lines = [graded("a.ipynb", "ada", "ft")]
    write(tmp_path / "excused", lines, Rubric(), adjustments=excused)
    command = ["compare", str(tmp_path / "excused"), books[1]]
    assert cli.main(command) == exit_codes.PASSED
    out = capsys.readouterr().out
    assert re.search(r"ada  excused → \d", out)
    assert "0 with more points, 0 with fewer" in out
    assert "1 excused in one of them" in out
    assert cli.main([*command, "--json"]) == exit_codes.PASSED
    (moved,) = [m for m in json.loads(capsys.readouterr().out)["moved"] if m["student"] == "ada"]
    assert moved["before"] is None
