"""`grader explain`: what it prints, and its exit codes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from grader import cli
from grader.commands import exit_codes

SOURCE = """
from typing import Annotated

from torch import Tensor


def scaled(x: Annotated[Tensor, "n, d"], gain: Annotated[Tensor, "d"]):
    out = x * gain
    return out


def right(dout, x, gain):
    return dout * gain, (dout * x).sum(0)


def wrong(dout, x, gain):
    dx = dout * gain
    dgain = (dout * x).mean(0)
    return dx, dgain


def loops(x: Annotated[Tensor, "n"]):
    while True:
        x = x + 1


def drawn(generator):
    raise RuntimeError("asked for")
"""


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "scaling.py").write_text(SOURCE, encoding="utf-8")
    (tmp_path / "broken.py").write_text("x = 1\ny = 1 / 0\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "90")
    return "scaling.py"


def test_a_right_one_is_zero(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["explain", f"{file}:scaled", f"{file}:right"]) == exit_codes.PASSED
    assert "2 of 2 right by themselves" in capsys.readouterr().out


def test_a_wrong_one_is_one_and_says_where(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["explain", f"{file}:scaled", f"{file}:wrong"]) == exit_codes.NOT_PASSED
    out = capsys.readouterr().out
    line = SOURCE[: SOURCE.index(".mean(0)")].count("\n") + 1
    assert f"dgain  scaling.py, line {line}" in out
    assert "dgain = (dout * x).mean(0)" in out


def test_json_is_a_document(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["explain", f"{file}:scaled", f"{file}:wrong", "--json", "--size", "d=7"]
    assert cli.main(arguments) == exit_codes.NOT_PASSED
    document = json.loads(capsys.readouterr().out)
    assert document["ok"] is False
    assert document["gradients"][0]["shape"] == [6, 7]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["scaling.py:scaled", "scaling.py:rigth"], "scaling.py has no rigth. Is it right?"),
        (["scaling.py", "scaling.py:right"], "scaling.py is not a function of a file"),
        (["none.py:scaled", "scaling.py:right"], "There is no file none.py."),
        (["broken.py:x", "scaling.py:right"], "broken.py, line 2, raised ZeroDivisionError"),
        (["scaling.py:loops", "scaling.py:right"], "is not a step: `while True:"),
        (["scaling.py:scaled", "scaling.py:right", "--size", "k=3"], "no input has a size k"),
        (
            ["scaling.py:scaled", "scaling.py:right", "--inputs", "scaling.py:drawn"],
            "drawn, line 27, raised RuntimeError: asked for.",
        ),
    ],
)
def test_what_cannot_be_explained_is_two(
    file: str, arguments: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["explain", *arguments]) == exit_codes.UNREADABLE
    captured = capsys.readouterr()
    assert sentence in captured.err
    assert not captured.out


@pytest.mark.slow
def test_the_installed_command(file: str) -> None:
    command = [sys.executable, "-m", "grader", "explain", f"{file}:scaled", f"{file}:wrong"]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == exit_codes.NOT_PASSED, done.stderr
    assert "dgain" in done.stdout
