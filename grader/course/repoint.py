"""The project's address, changed in every file that gives it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import click
import nbformat
from nbformat import NotebookNode

from grader.address import owner_and_name, repository_address
from grader.blank import make_blank
from grader.course.build import build
from grader.course.files import BLANKS, SOLUTIONS, find_sources
from grader.course.read import read_notebook, read_repository
from grader.course.verify import verify

ADDRESSED = (
    "pyproject.toml",
    "*.md",
    "docs/**/*.md",
    "docs/**/*.yml",
    "notebooks/*.ipynb",
    "notebooks/solutions/*.ipynb",
)
"""Files that may give the address. Sources never do: they say `{{ repository }}`."""


def repoint(repository: str) -> None:
    """Lead badges, links and Colab cells to another repository, for a fork.

    Outputs stay as they are, so that no solution runs again; unless something else is out of date,
    which is said: then everything is built anew.
    """
    before, after = read_repository(), repository_address(repository)
    texts = {path: path.read_text(encoding="utf-8") for path in _addressed_files()}
    changed = {
        path: new
        for path, text in texts.items()
        if (new := readdressed(text, before, after)) != text
    }
    for path, text in changed.items():
        path.write_text(text, encoding="utf-8")
    for source in find_sources():
        solved = read_notebook(source)
        _take_ids(BLANKS / f"{source.stem}.ipynb", make_blank(solved))
        _take_ids(SOLUTIONS / f"{source.stem}.ipynb", solved)
    for path in changed:
        click.echo(f"wrote {path}")
    if not changed:
        click.echo(f"Everything leads to {after} already.")
    if complaints := verify():
        click.echo("\n".join([*complaints, "Building the notebooks anew."]))
        build()


def _take_ids(path: Path, made: NotebookNode) -> None:
    """Give a notebook's cells the ids they would have if it were built: those follow the text."""
    if not path.is_file():
        return
    notebook = nbformat.read(path, as_version=4)
    if [cell.source for cell in notebook.cells] == [cell.source for cell in made.cells]:
        for cell, new in zip(notebook.cells, made.cells, strict=True):
            cell["id"] = new["id"]
        path.write_text(nbformat.writes(notebook, version=4) + "\n", encoding="utf-8")


def readdressed(text: str, before: str, after: str) -> str:
    """A text with one repository's address in place of another's, however it is given."""
    old, new = owner_and_name(before), owner_and_name(after)
    (old_owner, old_name), (new_owner, new_name) = old.split("/"), new.split("/")
    end = r"(?![\w-])"
    text = re.sub(
        rf"(git clone \S*/{re.escape(old)}\n\$ cd ){re.escape(old_name)}{end}",
        lambda found: found[1] + new_name,
        text,
    )
    text = re.sub(
        rf"(?<![\w-]){re.escape(old_owner)}\.github\.io/{re.escape(old_name)}{end}",
        lambda _: f"{new_owner}.github.io/{new_name}",
        text,
    )
    hosts = r"(\bgithub\.com/|\braw\.githubusercontent\.com/|\bgoogle\.com/github/)"
    return re.sub(rf"{hosts}{re.escape(old)}{end}", lambda found: found[1] + new, text)


def _addressed_files() -> Iterator[Path]:
    for pattern in ADDRESSED:
        yield from sorted(Path().glob(pattern))
