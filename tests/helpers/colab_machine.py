"""What a machine of Colab's looks like to a notebook, and a notebook run there on its own."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import nbformat
from nbformat import NotebookNode

RUN = """
import sys, nbformat
from nbclient import NotebookClient
notebook = nbformat.read(sys.argv[1], as_version=4)
NotebookClient(notebook, timeout=600, kernel_name="python3").execute()
nbformat.write(notebook, sys.argv[1])
import grader
print(grader.__file__)
"""

COURSE_ADDRESS = re.compile(r"backprop-ninja @ git\+https:[^\s\"\\]+")


def run(*command: str | Path, folder: Path, **variables: str) -> str:
    """Run a command with nothing of this checkout in its environment; return what it printed."""
    kept = {k: v for k, v in os.environ.items() if k not in {"PYTHONPATH", "MPLBACKEND"}}
    finished = subprocess.run(
        [str(word) for word in command],
        cwd=folder,
        env={**kept, **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    assert finished.returncode == 0, finished.stdout + finished.stderr
    return finished.stdout


def packages_of(environment: Path) -> Path:
    (folder,) = environment.glob("lib/python*/site-packages")
    return folder


def pretend_to_be_colab(environment: Path) -> None:
    """On Colab the kernel has imported google.colab before the first cell runs."""
    stub = packages_of(environment) / "google" / "colab"
    stub.mkdir(parents=True, exist_ok=True)
    (stub / "__init__.py").touch()
    (packages_of(environment) / "colab.pth").write_text("import google.colab\n", encoding="utf-8")


def run_alone(
    notebook: Path, environment: Path, wheel: Path, folder: Path, **variables: str
) -> NotebookNode:
    """Run a copy of the notebook in an empty folder; the course that it installs is the wheel."""
    alone = folder / notebook.name
    text, replaced = COURSE_ADDRESS.subn(
        f"backprop-ninja @ {wheel.as_uri()}", notebook.read_text("utf-8")
    )
    assert replaced == 1, f"{notebook} does not install the course in one place"
    alone.write_text(text, encoding="utf-8")
    python = environment / "bin" / "python"
    path = f"{python.parent}{os.pathsep}{os.environ['PATH']}"  # the cell calls `pip`
    variables = {"PATH": path, **variables}
    used = run(python, "-c", RUN, alone, folder=folder, **variables)
    assert Path(used.splitlines()[-1]).is_relative_to(environment), "not the wheel's package"
    executed: NotebookNode = nbformat.read(alone, as_version=4)
    return executed


def said_by_checks(notebook: NotebookNode) -> list[tuple[int, str]]:
    """Of each check cell its points, and what it printed."""
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert all(cell.execution_count for cell in cells)
    checks = [cell for cell in cells if cell.metadata.get("nbgrader", {}).get("grade")]
    assert checks
    return [
        (cell.metadata.nbgrader.points, "".join(output.get("text", "") for output in cell.outputs))
        for cell in checks
    ]
