"""`grader compare` as it is typed."""

from __future__ import annotations

import json
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
    (folder / "run.json").write_text("{}")
    journal(folder / "results.jsonl", [graded("a.ipynb", "ada", outcomes)])
    return str(folder)


@pytest.fixture
def books(tmp_path: Path) -> list[str]:
    return [book(tmp_path / "old", "ft"), book(tmp_path / "new", "pp")]


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


def test_what_is_no_gradebook_gets_a_sentence(
    books: list[str], tmp_path: Path, capsys: Capture
) -> None:
    assert cli.main(["compare", books[0], str(tmp_path)]) == exit_codes.UNREADABLE
    assert "holds no gradebook" in capsys.readouterr().err


def test_results_that_somebody_edited_are_refused(books: list[str], capsys: Capture) -> None:
    results = Path(books[1]) / "results.jsonl"
    results.write_text(results.read_text().replace("ada", "eve"))
    assert cli.main(["compare", *books]) == exit_codes.UNREADABLE
    assert "Line 1 of" in capsys.readouterr().err
