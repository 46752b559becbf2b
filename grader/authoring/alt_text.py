"""The words of a notebook's pictures: its own, or the caption in italics below them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from nbformat import NotebookNode

_IMAGE = "image/png"
_CAPTION = re.compile(r"\*(?!\*)(.+?)\*(?:\n\s*\n|\Z)", re.DOTALL)
"""A paragraph in italics at the beginning of a text."""
_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")


def describe_pictures(notebook: NotebookNode) -> NotebookNode:
    """Give each picture without words those of the caption that stands below its cell.

    Pictures of pyplot have none. What shows a notebook reads them in the metadata of the output.
    """
    for _, caption, output in _without_words(notebook):
        if caption:
            described = output.metadata.setdefault(_IMAGE, NotebookNode())
            described["alt"] = caption
    return notebook


def undescribed(notebook: NotebookNode) -> list[str]:
    """The first lines of the cells that show a picture without words."""
    return [cell.source.strip().partition("\n")[0] for cell, _, _ in _without_words(notebook)]


def _without_words(
    notebook: NotebookNode,
) -> Iterator[tuple[NotebookNode, str, NotebookNode]]:
    for number, cell in enumerate(notebook.cells):
        below = notebook.cells[number + 1 : number + 2]
        for output in cell.get("outputs", ()):
            described = output.get("metadata", {}).get(_IMAGE, {})
            if _IMAGE in output.get("data", {}) and not described.get("alt"):
                yield cell, _caption(below[0]) if below else "", output


def _caption(cell: NotebookNode) -> str:
    """The words of a caption without their marks: "The slope at x is ..."."""
    found = _CAPTION.match(cell.source.strip()) if cell.cell_type == "markdown" else None
    if found is None:
        return ""
    words = _LINK.sub(r"\1", found[1])
    return " ".join(re.sub(r"[*`$]", "", words).split())
