"""The command behind `make train`, on the bundled names."""

from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner

from grader.commands.train import main


def test_the_solution_trains(project: Path) -> None:
    notebook = project / "notebooks/solutions/04_manual_training.ipynb"
    result = CliRunner().invoke(main, [str(notebook), "--steps", "50"])
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    where = next(i for i, line in enumerate(lines) if "50 steps by hand" in line)
    assert lines[where + 1].startswith("training loss ")
    assert lines[where + 2].startswith("validation loss ")
    assert len(lines) == where + 23
    assert result.stderr == ""


def test_the_blank_notebook_is_to_do(project: Path) -> None:
    notebook = project / "notebooks/04_manual_training.ipynb"
    result = CliRunner().invoke(main, [str(notebook)])
    assert result.exit_code == 2
    assert "04_manual_training.ipynb: to do: dlogits, dh, " in result.stderr


def test_what_is_no_notebook_is_said_in_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "04_manual_training.ipynb"
    path.write_text("not a notebook")
    result = CliRunner().invoke(main, [str(path)])
    assert result.exit_code == 2
    assert "Traceback" not in result.output
