"""`grader start`: blank notebooks in a folder, never over somebody's work."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from grader import cli
from grader.commands import exit_codes, start

OURS = ["01_atomic_backprop", "02_fused_cross_entropy", "03_fused_batchnorm", "04_manual_training"]
ENCORE = ["05_attention", "06_block", "07_training"]


@pytest.fixture(autouse=True)
def outside_of_jupyter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("JUPYTERHUB_USER", "JUPYTER_SERVER_URL"):
        monkeypatch.delenv(name, raising=False)


def test_the_blanks_are_written_as_they_are_committed(project: Path) -> None:
    assert cli.main(["start", "--no-open"]) == exit_codes.PASSED
    written = sorted(Path("backprop-ninja").iterdir())
    assert [path.stem for path in written] == OURS
    for path in written:
        assert path.read_bytes() == (project / "notebooks" / path.name).read_bytes()
    assert cli.main(["start", "--no-open", "--encore"]) == exit_codes.PASSED
    assert sorted(path.stem for path in Path("backprop-ninja").iterdir()) == OURS + ENCORE


def test_work_stays_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    cli.main(["start", "mine", "--no-open"])
    work = Path("mine/02_fused_cross_entropy.ipynb")
    work.write_text("my work")
    Path("mine/03_fused_batchnorm.ipynb").unlink()
    capsys.readouterr()
    assert cli.main(["start", "mine", "--no-open"]) == exit_codes.PASSED
    assert work.read_text() == "my work"
    assert capsys.readouterr().out == (
        "Wrote 03_fused_batchnorm.ipynb into mine.\n"
        "02_fused_cross_entropy.ipynb in mine has been changed, and stays as it is.\n"
    )


def test_jupyterlab_opens_the_first_notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[tuple[list[str], Any]] = []

    class Process:
        """Ends after the student has pressed Ctrl-C once, as JupyterLab asks whether to."""

        def __init__(self, command: list[str], cwd: Path) -> None:
            opened.append((command, cwd))
            self.waits = 0

        def __enter__(self) -> Process:
            return self

        def __exit__(self, *_: object) -> None:
            assert self.waits == 2

        def poll(self) -> int | None:
            return 0 if self.waits == 2 else None

        def wait(self) -> int:
            self.waits += 1
            if self.waits == 1:
                raise KeyboardInterrupt
            return 0

    monkeypatch.setattr(subprocess, "Popen", Process)
    assert cli.main(["start"]) == exit_codes.PASSED
    ((command, folder),) = opened
    assert command[1:5] == ["-m", "jupyter", "lab", start.FIRST]
    assert folder == Path("backprop-ninja")


def test_in_jupyter_nothing_is_opened(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("JUPYTERHUB_USER", "ada")
    assert cli.main(["start"]) == exit_codes.PASSED
    assert "open backprop-ninja in its file browser" in capsys.readouterr().out


def test_a_file_is_no_folder(capsys: pytest.CaptureFixture[str]) -> None:
    Path("mine").write_text("")
    assert cli.main(["start", "mine"]) == exit_codes.UNREADABLE
    assert capsys.readouterr().err == "mine is a file. Name a folder for the notebooks.\n"
