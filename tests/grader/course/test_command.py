import os
import subprocess
import sys
from pathlib import Path

PROJECT = Path(__file__).parents[3]


def run_command(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "grader.course", *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(PROJECT)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_committed_notebooks_are_up_to_date(project: Path) -> None:
    finished = run_command("verify", folder=project)
    assert finished.returncode == 0, finished.stderr


def test_errors_of_the_command_are_sentences(tmp_path: Path) -> None:
    finished = run_command("verify", folder=tmp_path)
    assert finished.returncode == 1
    assert finished.stderr == (
        "There is no notebooks/source/*.py here: run this from the project's folder.\n"
    )
