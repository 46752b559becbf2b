"""What has to work on Windows, tried where what Windows lacks was taken away: `--like-windows`."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from grader.authoring.build import execute

NOTEBOOKS = (
    *("01_atomic_backprop", "02_fused_cross_entropy"),
    *("03_fused_batchnorm", "04_manual_training"),
)

pytestmark = pytest.mark.like_windows


def grader(*words: str | Path) -> subprocess.CompletedProcess[bytes]:
    """Run the command; what it prints is for a console in cp1252."""
    command = [sys.executable, "-m", "grader", *map(str, words)]
    return subprocess.run(command, capture_output=True, check=False)


def test_check_says_why_in_the_consoles_letters(project: Path, tmp_path: Path) -> None:
    sample = project / "corpus/answers/ex1/samples/one_fault.py"
    blank = project / "notebooks/01_atomic_backprop.ipynb"
    assert grader("dev", "fill", blank, sample, "--out", tmp_path).returncode == 0
    done = grader("check", tmp_path / "one_fault.ipynb")
    assert done.returncode == 1, done.stderr
    said = done.stdout.decode("cp1252")
    assert "25 of 26 points" in said
    assert "comes through `counts_sum` is missing" in said


def test_a_line_without_end_ends_with_its_process(project: Path, tmp_path: Path) -> None:
    notebook = nbformat.read(project / "notebooks/solutions/02_fused_cross_entropy.ipynb", 4)
    (answer,) = (c for c in notebook.cells if c.source.startswith("# answer: ex2-dlogits"))
    answer.source += "\nwhile True:\n    pass"
    nbformat.write(notebook, tmp_path / "endless.ipynb")
    right = project / "notebooks/solutions/03_fused_batchnorm.ipynb"
    done = grader("check", tmp_path / "endless.ipynb", right, "--json", "--timeout", "1")
    endless, after = json.loads(done.stdout)
    assert {each["verdict"] for each in endless["gradients"]} >= {"error"}
    assert after["score"] == after["max_score"]


def test_the_worker_has_no_fork_and_runs_answers_itself() -> None:
    code = "import os, grader.worker.main; print(hasattr(os, 'fork'))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_the_board_shows_what_passes(project: Path) -> None:
    solved = nbformat.read(project / "notebooks/solutions/02_fused_cross_entropy.ipynb", 4)
    board = nbformat.v4.new_code_cell("from grader import board\nboard()")
    solved.cells.append(board)
    (text,) = (text for text in _texts(execute(solved).cells[-1]) if text)
    assert "passes" in text


def test_explain(project: Path) -> None:
    file = project / "docs/examples/attention.py"
    done = grader("explain", f"{file}:attention", f"{file}:attention_backward")
    assert done.returncode == 1, done.stderr
    assert "The axis in `-2`" in done.stdout.decode("cp1252")


def test_start(tmp_path: Path) -> None:
    done = grader("start", tmp_path / "work", "--no-open")
    assert done.returncode == 0, done.stderr
    assert len([*(tmp_path / "work").iterdir()]) == len(NOTEBOOKS)


def test_grade_says_that_it_needs_linux(tmp_path: Path) -> None:
    (tmp_path / "class").mkdir()
    done = grader("grade", tmp_path / "class", "--out", tmp_path / "gradebook")
    assert done.returncode == 2
    assert "use a Linux machine, or on Windows WSL 2" in done.stderr.decode("cp1252")


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_notebook_runs_and_passes(name: str, project: Path) -> None:
    solved = nbformat.read(project / f"notebooks/solutions/{name}.ipynb", 4)
    cells = execute(solved).cells
    checks = [cell for cell in cells if cell.source.startswith("# check:")]
    texts = ["".join(_texts(cell)) for cell in checks]
    assert texts
    assert all("pass" in text and "fail" not in text for text in texts), texts


def _texts(cell: nbformat.NotebookNode) -> list[str]:
    return [
        output.get("text") or output.get("data", {}).get("text/plain", "")
        for output in cell.outputs
    ]
