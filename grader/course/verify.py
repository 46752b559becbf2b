"""Whether the committed notebooks are what their sources make."""

from __future__ import annotations

from pathlib import Path

import nbformat
from nbformat import NotebookNode

from grader.blank import make_blank
from grader.course.build import make_blank_cells
from grader.course.files import BLANK_CELLS, BLANKS, SOLUTIONS, SOURCES, find_sources
from grader.course.read import read_notebook


def verify() -> list[str]:
    """Where the committed notebooks are not what their sources make, outputs aside: sentences."""
    complaints: list[str] = []
    for source in find_sources():
        notebook = read_notebook(source)
        blank, solution = (folder / f"{source.stem}.ipynb" for folder in (BLANKS, SOLUTIONS))
        complaints += _differences(blank, make_blank(notebook), source)
        complaints += _differences(solution, notebook, source)
        complaints += _unfit_outputs(blank, solution)
    if not BLANK_CELLS.is_file() or BLANK_CELLS.read_text("utf-8") != make_blank_cells():
        complaints.append(f"{BLANK_CELLS} is out of date: its blanks are not those of {SOURCES}.")
    return complaints


def _differences(path: Path, expected: NotebookNode, source: Path) -> list[str]:
    """At most one sentence: where the notebook at `path` first differs from `expected`."""
    if not path.is_file():
        return [f"{path} is missing; {source} makes it."]
    found = nbformat.read(path, as_version=4)
    cells = zip(map(_compared, found.cells), map(_compared, expected.cells), strict=False)
    for number, (have, want) in enumerate(cells, start=1):
        if have != want:
            what = next(key for key in want if have[key] != want[key])
            opening = str(want["source"]).strip().partition("\n")[0]
            return [
                f"{path} is out of date: the {what} of its cell {number} (`{opening}`) "
                f"is not that of {source}."
            ]
    if len(found.cells) != len(expected.cells):
        return [
            f"{path} is out of date: it has {len(found.cells)} cells, "
            f"{source} makes {len(expected.cells)}."
        ]
    if found.metadata != expected.metadata:
        return [f"{path} is out of date: its metadata are not those that {source} makes."]
    return []


def _compared(cell: NotebookNode) -> dict[str, object]:
    return {
        "type": cell.cell_type,
        "source": cell.source,
        "metadata": cell.metadata,
        "id": cell.get("id"),
    }


def _unfit_outputs(blank: Path, solution: Path) -> list[str]:
    complaints = []
    if blank.is_file():
        cells = nbformat.read(blank, as_version=4).cells
        if any(cell.get("outputs") or cell.get("execution_count") for cell in cells):
            complaints.append(f"{blank} has been run: the student's copy has no outputs.")
    if solution.is_file():
        code = [c for c in nbformat.read(solution, as_version=4).cells if c.cell_type == "code"]
        if not all(cell.execution_count for cell in code):
            complaints.append(f"{solution} has cells that were not run.")
        if any(output.output_type == "error" for cell in code for output in cell.outputs):
            complaints.append(f"{solution} has a cell that raised.")
    return complaints
