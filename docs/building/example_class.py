"""A made-up class of twelve, graded: the gradebook that readers of the guide click through.

Its exercise is not one of the course's, since the pages show right answers.
"""

from __future__ import annotations

import csv
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click
import nbformat

from docs.building.included import PROJECT
from grader.authoring.build import fill_in
from grader.execution.sandbox import best_sandbox

HERE = PROJECT / "docs" / "example_class"
BUILT = PROJECT / "build" / "docs" / "example"
NOTEBOOK = "01_block"

COURSE = (
    ("grader", "new", "block.py", "--out", "course", "--id", "b1"),
    ("grader", "build", "course"),
)
"""How the course comes of the forward pass."""

GRADE = (
    *("grader", "grade", "submitted", "--out", "gradebook", "--roster", "roster.csv"),
    *("--course", "course"),
)
"""How the class is graded, as the guide shows it."""

SEED = ("--seed", "1")
"""What it does not show: the same hidden numbers each time."""

_PROGRESS = re.compile(r"\d+ of \d+ done.*\n")

SAID = "said.txt"


@click.command(help=__doc__)
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
def main(folder: Path) -> None:
    """Write the class, its gradebook and what the command printed into a new folder."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    shutil.copy(HERE / "block.py", folder)
    for words in COURSE:
        _run(words, folder)
    hand_in(folder)
    said = _run((*GRADE, *SEED, "--sandbox", best_sandbox()), folder)
    (folder / SAID).write_text(_PROGRESS.sub("", said), encoding="utf-8")


def hand_in(folder: Path) -> None:
    """Write the class list, and a folder for each student who handed something in."""
    students = tomllib.loads((HERE / "class.toml").read_text(encoding="utf-8"))
    with (folder / "roster.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(
            [("id", "name"), *((id_, student["name"]) for id_, student in students.items())]
        )
    derived = _derived(folder / "course" / "solutions" / f"{NOTEBOOK}.ipynb")
    for id_, student in students.items():
        if not student.get("absent"):
            answer = folder / "answers" / id_ / f"{NOTEBOOK}.py"
            answer.parent.mkdir(parents=True)
            answer.write_text("\n".join(written(derived, student)), encoding="utf-8")
            blank = folder / "course" / f"{NOTEBOOK}.ipynb"
            fill_in(blank, [answer], folder / "submitted" / id_)


def as_typed() -> str:
    """The command that graded the class, and what it printed."""
    said = (BUILT / SAID).read_text(encoding="utf-8").rstrip()
    command = " ".join(GRADE).replace(" --roster", " \\\n    --roster")
    return f"```console\n$ {command}\n{said}\n```"


def _derived(solution: Path) -> str:
    """The answer cells of the solved notebook, one after the other."""
    cells = (cell.source for cell in nbformat.read(solution, as_version=4).cells)
    return "\n".join(source for source in cells if source.startswith("# answer:"))


def written(derived: str, student: Mapping[str, Any]) -> Iterator[str]:
    """The lines of a student's answer."""
    lines, stopped = student.get("lines", {}), False
    for line in derived.splitlines():
        name, is_gradient, _ = line.partition(" = ")
        stopped = stopped or name == student.get("until")
        if is_gradient and stopped:
            yield f"{name} = ...  # your turn"
        else:
            yield lines.get(name, line).strip()


def _run(words: tuple[str, ...], folder: Path) -> str:
    command = [sys.executable, "-m", *words]
    done = subprocess.run(command, cwd=folder, check=False, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(words)} ends with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


if __name__ == "__main__":
    main()
