"""The files of a class repository: the course without its answers."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from grader.blank import make_blank, solution_statements
from grader.course.files import BLANKS, find_sources
from grader.course.read import read_notebook, read_repository
from grader.export.release_texts import (
    TEMPLATES,
    student_environment,
    student_pyproject,
    student_readme,
)
from grader.fused import PLAIN, seal
from grader.source import SourceError

PACKAGES = ("grader", "makemore_data")

LEFT_OUT = (
    "grader/address.py",
    "grader/blank.py",
    "grader/commands/checkout.py",
    "grader/commands/dev.py",
    "grader/commands/export.py",
    "grader/commands/export_gradescope.py",
    "grader/commands/export_release.py",
    "grader/course/",
    "grader/dev_check.py",
    "grader/export/",
    "grader/fused.toml",
    "grader/otter.py",
    "grader/source.py",
    "makemore_data/solved/",
)
"""What makes the course, and what contains its answers."""

AS_THEY_ARE = ("LICENSE", "constraints.txt")

WORKFLOW = Path(__file__).parent / "classroom.yml"
WORKFLOW_PLACE = ".github/workflows/classroom.yml"


def release_files(repository: str | None = None) -> dict[str, bytes]:
    """Every file of a class repository by its path, made in the course's own repository.

    Args:
        repository: the class repository's address, for badges and Colab cells; by default the
            course's own.

    Raises:
        SourceError: a file would tell an answer; the message says which.
    """
    pyproject = Path("pyproject.toml").read_text(encoding="utf-8")
    address = repository or read_repository()
    solved = {source.stem: read_notebook(source, address) for source in find_sources()}
    # Not the notebooks that lie about here: somebody may have worked in them.
    blanks = {name: make_blank(notebook) for name, notebook in solved.items()}
    files = dict(_packages())
    files["grader/fused.sealed"] = seal(PLAIN.read_bytes())
    files |= {
        f"{BLANKS}/{name}.ipynb": nbformat.writes(blank, version=4) + "\n"
        for name, blank in blanks.items()
    }
    files |= {name: Path(name).read_bytes() for name in AS_THEY_ARE}
    reduced = student_pyproject(pyproject, address)
    files |= {
        "pyproject.toml": reduced,
        "environment.yml": student_environment(Path("environment.yml").read_text("utf-8"), reduced),
        "README.md": student_readme(address, {n: _title(b) for n, b in blanks.items()}),
        "Makefile": (TEMPLATES / "Makefile").read_bytes(),
        ".gitignore": (TEMPLATES / "gitignore").read_bytes(),
        WORKFLOW_PLACE: WORKFLOW.read_bytes(),
    }
    encoded = {
        path: text.encode("utf-8") if isinstance(text, str) else text
        for path, text in sorted(files.items())
    }
    _refuse_telling(encoded, solved.values())
    return encoded


def _packages() -> Iterator[tuple[str, bytes | str]]:
    """The course's Python packages, without what is left out."""
    for package in PACKAGES:
        for path in sorted(Path(package).rglob("*")):
            name = path.as_posix()
            hidden = any(part.startswith((".", "__pycache__")) for part in path.parts)
            if path.is_file() and not hidden and not name.startswith(LEFT_OUT):
                yield name, path.read_bytes()


def _title(notebook: NotebookNode) -> str:
    heading: str = notebook.cells[0].source.strip().partition("\n")[0]
    return heading.lstrip("# ")


def _refuse_telling(files: Mapping[str, bytes], solved: Iterable[NotebookNode]) -> None:
    """Raise SourceError where a file has a statement of a solution in it, spaces disregarded."""
    answers = {answer for notebook in solved for answer in solution_statements(notebook)}
    for path, content in files.items():
        for text in _texts(path, content):
            squeezed = _squeezed(text)
            for answer in answers:
                if _squeezed(answer) in squeezed:
                    raise SourceError(
                        f"{path} would tell the answer `{answer}`: nothing was written. Leave the "
                        "file out (LEFT_OUT in grader/export/release.py), or say it otherwise."
                    )


def _texts(path: str, content: bytes) -> Iterator[str]:
    """What somebody who opens a file reads in it."""
    if path.endswith((".ipynb", ".json")):
        yield from _strings(json.loads(content))
    else:
        yield content.decode("utf-8", errors="replace")


def _strings(value: object) -> Iterator[str]:
    """Every string in a JSON document."""
    match value:
        case str():
            yield value
        case list():
            if all(isinstance(line, str) for line in value):  # a cell's lines are one text
                yield "".join(value)
            else:
                for item in value:
                    yield from _strings(item)
        case dict():
            for item in value.values():
                yield from _strings(item)


def _squeezed(text: str) -> str:
    return "".join(text.split())
