"""The blank notebooks as pages: run once, so that they show pictures and figures."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import click
import nbformat
from docutils import nodes
from nbformat import NotebookNode
from sphinx.application import Sphinx

from grader.authoring.build import execute
from grader.authoring.course import write_notebook
from grader.authoring.source import SourceError

FOLDER = "notebooks/"
"""Where they lie among the pages."""

_PICTURE = "image/png"

WHOLE_RUN = "whole-run"
"""The tag of a cell that takes long: here it runs briefly, and shows what the solution's shows."""

_BADGE = re.compile(r"\[!\[([^]]+)\]\(https?:[^)]+\)\]\(([^)]+)\)")


@click.command(help=__doc__)
@click.argument("blank", type=click.Path(path_type=Path, exists=True))
@click.argument("out", type=click.Path(path_type=Path))
def main(blank: Path, out: Path) -> None:
    """Run a blank notebook and write it as a page."""
    try:
        notebook = execute(nbformat.read(blank, as_version=4))
    except SourceError as error:
        sys.exit(f"{blank}: {error}")
    solution = nbformat.read(blank.parent / "solutions" / blank.name, as_version=4)
    for cell, solved in zip(notebook.cells, solution.cells, strict=True):
        if WHOLE_RUN in cell.metadata.get("tags", []):
            cell.outputs = solved.outputs
        dress(cell)
    notebook.metadata.language_info.pygments_lexer = "ipython3"  # the set-up has a line for pip
    write_notebook(notebook, out)


def dress(cell: NotebookNode) -> None:
    """Say what myst-nb asks for: words for pictures, a tag for an answer, nothing to fetch."""
    # A badge is a picture that another server draws; here it is a button with its text.
    cell.source = _BADGE.sub(r"[\1](\2){.sd-btn .sd-btn-outline-primary}", cell.source)
    if cell.metadata.get("nbgrader", {}).get("solution"):
        cell.metadata.tags = [*cell.metadata.get("tags", []), "answer"]
    words = [_words(output) for output in cell.get("outputs", ()) if _PICTURE in _data(output)]
    if words:
        cell.metadata.mystnb = {"image": {"alt": " ".join(dict.fromkeys(words))}}


def _data(output: NotebookNode) -> NotebookNode:
    data: NotebookNode = output.get("data", NotebookNode())
    return data


def _words(output: NotebookNode) -> str:
    """What a picture shows: its own words, else its text."""
    own = output.metadata.get(_PICTURE, {}).get("alt")
    return str(own or _data(output).get("text/plain", "A picture."))


def put_all_under_the_title(app: Sphinx, doctree: nodes.document) -> None:
    """Let each notebook have one title; Sphinx calls this for every page."""
    if app.env.docname.startswith(FOLDER):
        nest(doctree)


def nest(doctree: nodes.document) -> None:
    """Put a page's sections after the first under it: a notebook's parts are top headings too."""
    title, *parts = [node for node in doctree.children if isinstance(node, nodes.section)]
    for part in parts:
        doctree.remove(part)
        title.append(part)


if __name__ == "__main__":
    main()
