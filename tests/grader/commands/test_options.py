from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from grader import cli
from grader.commands import exit_codes

Capture = pytest.CaptureFixture[str]


@pytest.mark.parametrize(
    "words",
    [
        ["grade", "", "--out", "book"],
        ["grade", ".", "--out", ""],
        ["grade", ".", "--out", "book", "--roster", ""],
        ["grade", ".", "--out", "book", "--rubric", ""],
        ["grade", ".", "--out", "book", "--adjustments", ""],
        ["compare", "", "book"],
        ["handback", "", "--for", "folder"],
        ["handback", "book", "--for", "folder", "--out", ""],
        ["check", ""],
        ["check", "a.ipynb", "--html", ""],
        ["export", "gradescope", "--notebook", "01", "--out", ""],
        ["new", "forward.py", "--out", ""],
    ],
)
def test_an_empty_path_is_not_this_folder(
    words: Sequence[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli.main(words) == exit_codes.UNREADABLE
    assert "it is empty: is a variable of your shell not set?" in capsys.readouterr().err
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize(
    "words",
    [["grade", "circle", "--out", "book"], ["grade", ".", "--out", "circle"], ["check", "circle"]],
)
def test_a_link_to_itself_is_no_path(
    words: Sequence[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("circle").symlink_to("circle")
    assert cli.main(words) == exit_codes.UNREADABLE
    assert "circle is a link that leads round in a circle." in capsys.readouterr().err


@pytest.mark.parametrize("index", ["", "not an address", "https://x.org/\nrm -rf /"])
def test_an_index_is_an_address(
    index: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.chdir(tmp_path)
    words = ["export", "gradescope", "--notebook", "01", "--torch-index", index]
    assert cli.main(words) == exit_codes.UNREADABLE
    assert "is not an address (https://...)." in capsys.readouterr().err
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("option", "value", "said"),
    [
        ("--scheduler", "", "'' is not an address of a scheduler"),
        ("--scheduler", "tcp://127.0.0.1", "is not an address of a scheduler"),
        ("--scheduler", "word", "is not an address of a scheduler"),
        ("--jobs", "0", "is not in the range"),
        ("--scale", "nan", "is not a scale"),
        ("--timeout", "nan", "nan is not a finite number"),
        ("--due", "tomorrow", "'tomorrow'"),
        ("--due-notebooks", "9", "there is no notebook '9'"),
        ("--roster-columns", "", "'' says of no column what it is"),
        ("--roster-columns", "a", "'a' says of no column what it is"),
        ("--roster-columns", "id=1,id=2", "names several columns for one role"),
        ("--roster-columns", "id=a\nname=b", "nothing does not exist"),
    ],
)
def test_a_value_that_cannot_be_is_refused_before_anything_is_written(
    option: str,
    value: str,
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: Capture,
) -> None:
    monkeypatch.chdir(tmp_path)
    words = ["grade", "nothing", "--out", "book", option, value]
    assert cli.main(words) == exit_codes.UNREADABLE
    assert said in capsys.readouterr().err
    assert not any(tmp_path.iterdir())
