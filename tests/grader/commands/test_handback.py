from __future__ import annotations

import os
from pathlib import Path

import pytest

from grader import cli
from grader.classroom.run.results import RESULTS, Results
from grader.commands import exit_codes
from tests.helpers.lines import as_line, graded
from tests.helpers.made_gradebook import gradebook_of

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def gradebook(tmp_path: Path) -> Path:
    return gradebook_of(
        tmp_path,
        "Ada Lovelace_11_assignsubmission_file/x.ipynb",
        "Zoë_12_assignsubmission_file/x.ipynb",
    )


def handback(gradebook: Path, *words: str) -> int:
    return cli.main(["handback", str(gradebook), *words])


def test_a_zip_for_moodle(gradebook: Path, capsys: Capture) -> None:
    assert handback(gradebook, "--for", "moodle") == exit_codes.PASSED
    made = gradebook / "handback-moodle"
    said = capsys.readouterr()
    assert f"2 of 2 students: {made / 'feedback.zip'}." in said.out
    assert "Upload multiple feedback files in a zip" in said.out
    assert said.err == ""
    assert sorted(path.name for path in made.iterdir()) == ["feedback.zip", "handback.csv"]
    assert handback(gradebook, "--for", "moodle") == exit_codes.UNREADABLE
    assert "holds pages that were handed back earlier" in capsys.readouterr().err
    assert handback(gradebook, "--for", "moodle", "--replace") == exit_codes.PASSED


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--for", "canvas"], "was not made from a Canvas download, but from: Moodle download"),
        (["--for", "fax"], "'fax' is not one of"),
        ([], "Missing option '--for'"),
    ],
)
def test_what_cannot_be_is_refused(
    words: list[str], said: str, gradebook: Path, capsys: Capture
) -> None:
    assert handback(gradebook, *words) == exit_codes.UNREADABLE
    assert said in capsys.readouterr().err


def test_pages_that_do_not_show_what_is_known_by_now(gradebook: Path, capsys: Capture) -> None:
    later = (gradebook / "grades.csv").stat().st_mtime + 60
    (gradebook / "adjustments.csv").touch()
    os.utime(gradebook / "adjustments.csv", (later, later))
    assert handback(gradebook, "--for", "folder") == exit_codes.UNREADABLE
    assert "was changed after the pages were written" in capsys.readouterr().err


def test_pages_older_than_the_rubric(gradebook: Path, capsys: Capture) -> None:
    rubric = gradebook.parent / "rubric.toml"
    (gradebook / "class.toml").write_text(f'rubric = "{rubric}"\n')
    later = (gradebook / "grades.csv").stat().st_mtime
    os.utime(gradebook / "class.toml", (later, later))
    rubric.touch()
    os.utime(rubric, (later + 60, later + 60))
    assert handback(gradebook, "--for", "folder") == exit_codes.UNREADABLE
    assert "rubric.toml was changed after the pages were written" in capsys.readouterr().err


def test_pages_that_lack_a_result(gradebook: Path, capsys: Capture) -> None:
    with Results(gradebook / RESULTS, change=True) as results:
        results.add(as_line(graded("new.ipynb", "eve", "pp")))
    assert handback(gradebook, "--for", "folder") == exit_codes.UNREADABLE
    assert "has not written all of" in capsys.readouterr().err


def test_no_gradebook(tmp_path: Path, capsys: Capture) -> None:
    assert handback(tmp_path, "--for", "folder") == exit_codes.UNREADABLE
    assert "name the folder that `grader grade` has written" in capsys.readouterr().err
    assert not any(tmp_path.iterdir())
