"""The project's address on GitHub: read, and changed in every file that gives it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import click
import nbformat
from nbformat import NotebookNode

from grader.authoring.blank import make_blank
from grader.authoring.build import build, verify
from grader.authoring.course import BLANKS, SOLUTIONS, read_notebooks, read_repository
from grader.user_error import UserError

ADDRESSED = (
    "pyproject.toml",
    "*.md",
    "docs/**/*.md",
    "docs/**/*.yml",
    "notebooks/*.ipynb",
    "notebooks/solutions/*.ipynb",
)
"""Files that may give the address. Sources never do: they say `{{ repository }}`."""

_ADDRESS = re.compile(r"(?:https://github\.com/)?([A-Za-z0-9][A-Za-z0-9-]*/[\w.-]*\w[\w.-]*)")


def repository_address(text: str) -> str:
    """The full address of a repository given as `owner/name` or as an address.

    Examples:
        >>> repository_address("ada/backprop-2027")
        'https://github.com/ada/backprop-2027'
        >>> repository_address("https://github.com/ada/backprop-2027.git")
        'https://github.com/ada/backprop-2027'

    Raises:
        UserError: it is neither, or not on GitHub, which is where Colab looks for notebooks.
    """
    match = _ADDRESS.fullmatch(text.strip().removesuffix("/").removesuffix(".git"))
    if match is None:
        raise UserError(
            f"`{text}` is not a repository on GitHub: it should look like owner/name, as in "
            "https://github.com/owner/name."
        )
    return f"https://github.com/{match[1]}"


def owner_and_name(address: str) -> str:
    """`owner/name` of a full address."""
    return address.removeprefix("https://github.com/")


def repoint(repository: str) -> None:
    """Lead badges, links and Colab cells to another repository, for a fork.

    Outputs stay as they are, so that no solution runs again. If something else is out of date, that
    is said, and everything is built anew.

    Raises:
        UserError: `repository` is not a repository on GitHub.
    """
    before, after = read_repository(), repository_address(repository)
    texts = {path: path.read_text(encoding="utf-8") for path in addressed_files()}
    changed = {
        path: new
        for path, text in texts.items()
        if (new := readdressed(text, before, after)) != text
    }
    for path, text in changed.items():
        path.write_text(text, encoding="utf-8")
    for name, solved in read_notebooks().items():
        _take_ids(BLANKS / f"{name}.ipynb", make_blank(solved))
        _take_ids(SOLUTIONS / f"{name}.ipynb", solved)
    for path in changed:
        click.echo(f"wrote {path}")
    if not changed:
        click.echo(f"Everything leads to {after} already.")
    if complaints := verify():
        click.echo("\n".join([*complaints, "Building the notebooks anew."]))
        build()


def _take_ids(path: Path, made: NotebookNode) -> None:
    """Give a notebook's cells the ids of those just made, since ids depend on the text."""
    if not path.is_file():
        return
    notebook = nbformat.read(path, as_version=4)
    if [cell.source for cell in notebook.cells] == [cell.source for cell in made.cells]:
        for cell, new in zip(notebook.cells, made.cells, strict=True):
            cell["id"] = new["id"]
        path.write_text(nbformat.writes(notebook, version=4) + "\n", encoding="utf-8")


def readdressed(text: str, before: str, after: str) -> str:
    """Replace one repository's address by another's in a text, in every form it may have there."""
    old, new = owner_and_name(before), owner_and_name(after)
    (old_owner, old_name), (new_owner, new_name) = old.split("/"), new.split("/")
    pages = f"{new_owner}.github.io/{new_name}"
    hosts = r"\bgithub\.com/|\braw\.githubusercontent\.com/|\bgoogle\.com/github/"
    for form, replacement in (  # what is in the first group stays
        (rf"(git clone \S*/{re.escape(old)}\n\$ cd ){re.escape(old_name)}", new_name),
        (rf"(?<![\w-])(){re.escape(old_owner)}\.github\.io/{re.escape(old_name)}", pages),
        (rf"({hosts}){re.escape(old)}", new),
    ):
        text = re.sub(rf"{form}(?![\w-])", rf"\g<1>{replacement}", text)
    return text


def addressed_files() -> Iterator[Path]:
    """The files here that may give the project's address."""
    for pattern in ADDRESSED:
        yield from sorted(Path().glob(pattern))
