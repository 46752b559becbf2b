import os
import subprocess
import sys
from pathlib import Path

import pytest

from corpus.readers.places import PROJECT
from grader import cli
from grader.commands import exit_codes


def run_command(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "grader", "dev", *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(PROJECT)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_committed_notebooks_are_up_to_date(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(project)
    assert (cli.main(["dev", "verify"]), capsys.readouterr().err) == (exit_codes.PASSED, "")


def test_errors_of_the_command_are_sentences(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(project)
    assert cli.main(["dev", "repoint", "gitlab.com/a/b"]) == exit_codes.NOT_PASSED
    assert capsys.readouterr().err.startswith("`gitlab.com/a/b` is not a repository on GitHub")


@pytest.mark.parametrize("command", [["verify"], ["mark", "--out", "marked"]])
def test_elsewhere_every_command_refuses(command: list[str], tmp_path: Path) -> None:
    finished = run_command(*command, folder=tmp_path)
    assert finished.returncode == 2
    assert finished.stderr == (
        f"`grader dev {command[0]}` looks at the course's own files: run it in a clone of the"
        " course's repository. There is no notebooks/source here.\n"
    )
    assert run_command(command[0], "--help", folder=tmp_path).returncode == 0
