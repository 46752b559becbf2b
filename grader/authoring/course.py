"""A course's own files: where they lie, and its sources read as notebooks."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import metadata
from pathlib import Path

import click
import nbformat
from nbformat import NotebookNode

from grader.authoring.carried_files import carried_files
from grader.authoring.source import SourceError, colab_badge, read_source
from grader.program.course import HINTS_FILE, Course, built_in_course, read_hints, read_text
from grader.program.exercises import load_exercises
from grader.program.parse import parse_program

SOURCES = Path("notebooks/source")
BLANKS = Path("notebooks")
SOLUTIONS = Path("notebooks/solutions")
CELLS = Path(__file__).parent / "cells"
"""Cells that stand in several notebooks, each of which has to open alone."""

_FILES = '"{{ files }}"'
"""In a shared cell: the files that a notebook carries, by their names."""
_NAME = "{{ notebook }}"
"""In a shared cell: the notebook's name."""
_SHARED_CELL = re.compile(r"(?m)^# \{\{ cell: (?P<name>\w+) \}\}$")


@dataclass(frozen=True, slots=True)
class Layout:
    """Where the files of a course lie.

    `folder` is that of exercises, forward functions and hints; `answers` are right answers that are
    kept, if any are. `course` is what the folder says; None is the built-in one.
    """

    folder: Path
    sources: Path
    blanks: Path
    solutions: Path
    answers: Path | None = None
    course: Course | None = None

    @classmethod
    def of(cls, course: Course) -> Layout:
        """A course that is one folder, with the students' notebooks at its top."""
        folder = course.folder
        return cls(folder, folder / "source", folder, folder / "solutions", course=course)

    @property
    def hints(self) -> Path:
        """The file of the hints."""
        return self.folder / HINTS_FILE

    def forward_texts(self) -> list[str]:
        """What the forward functions say, which is no secret; of the built-in course nothing is."""
        return [text for _, text in self.course.sources] if self.course else []


OURS = Layout(
    Path("makemore_data/course"), SOURCES, BLANKS, SOLUTIONS, answers=Path("corpus/answers")
)
"""The built-in course, in the project's repository."""


def find_sources(names: Sequence[str] = (), layout: Layout = OURS) -> list[Path]:
    """The sources of the named notebooks, or of all.

    Raises:
        SourceError: there are no sources here, or none has such a name.
    """
    sources = sorted(layout.sources.glob("*.py"))
    if not sources:
        where = " here: run this from the project's folder" if layout is OURS else ""
        raise SourceError(f"There is no {layout.sources}/*.py{where}.")
    if unknown := sorted(set(names) - {source.stem for source in sources}):
        known = ", ".join(source.stem for source in sources)
        raise SourceError(f"There is no notebook {unknown[0]}; there are {known}.")
    return [source for source in sources if not names or source.stem in names]


def read_notebooks(
    names: Sequence[str] = (), repository: str | None = None, layout: Layout = OURS
) -> dict[str, NotebookNode]:
    """Read the named notebooks, or all, as `read_notebook` does; the keys are their names."""
    sources = find_sources(names, layout)
    return {source.stem: read_notebook(source, repository, layout) for source in sources}


def read_notebook(
    source: Path, repository: str | None = None, layout: Layout = OURS
) -> NotebookNode:
    """Read a source as a notebook, with its solutions in it and not yet run.

    The built-in course's badge and its Colab cell lead to `repository`, by default to its own.
    Another course's badge leads to where that course says it is.

    Raises:
        SourceError: it cannot become a notebook; the message says why.
    """

    def shared_cell(directive: re.Match[str]) -> str:
        path = CELLS / f"{directive['name']}.py"
        if not path.is_file():
            known = ", ".join(sorted(cell.stem for cell in CELLS.glob("*.py")))
            raise SourceError(
                f"{source}: {directive[0]} asks for a cell that is not there; there are {known}."
            )
        return path.read_text(encoding="utf-8").rstrip().replace(_NAME, name)

    text, course, name = read_text(source), layout.course, source.stem
    text, hints = _SHARED_CELL.sub(shared_cell, text), read_hints(layout.hints)
    exercises = load_exercises(course or built_in_course())
    points = {exercise.prefix: exercise.points for exercise in exercises}
    own = (exercise for exercise in exercises if exercise.notebook == name)
    forward = {exercise.prefix: parse_program(exercise.forward).steps for exercise in own}
    if course is None:
        address = repository or read_repository()
        badge = colab_badge(address, f"notebooks/{name}")
        return read_source(text, name, address, hints, badge, points, forward)
    badge = colab_badge(course.repository, name) if course.repository else ""
    notebook = read_source(text, name, package_repository(), hints, badge, points, forward)
    for cell in notebook.cells:
        if _FILES in cell.source:
            files = carried_files(course, name, hints)
            text = json.dumps(files, indent=4, ensure_ascii=False)
            cell.source = cell.source.replace(_FILES, text)
    return notebook


def read_repository() -> str:
    """The project's address."""
    project = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["project"]
    address: str = project["urls"]["Repository"]
    return address


def package_repository() -> str:
    """The address from which the grader can be installed, as its package says."""
    urls = metadata("backprop-ninja").get_all("Project-URL") or []
    return str(next(url.partition(", ")[2] for url in urls if url.startswith("Repository, ")))


def write_notebook(notebook: NotebookNode, path: Path) -> None:
    """Write a notebook's file and say so on standard output."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(nbformat.writes(notebook, version=4) + "\n", encoding="utf-8")
    click.echo(f"wrote {path}")
