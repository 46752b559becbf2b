"""The committed notebooks, written from their sources."""

from __future__ import annotations

from collections.abc import Sequence

import click

from grader.blank import make_blank
from grader.blank_cells import blank_cells, blank_cells_file
from grader.course.execute import execute
from grader.course.files import BLANK_CELLS, BLANKS, SOLUTIONS, find_sources, write_notebook
from grader.course.read import read_notebook
from grader.source import SourceError
from makemore_data import load_names

LECTURE_NAMES = 32_033


def build(names: Sequence[str] = ()) -> None:
    """Write the student's copy and the executed solution of the named sources, or of all."""
    # A solution shows losses and shapes; readers of the course should see the lecture's.
    if len(load_names()) != LECTURE_NAMES:
        raise SourceError(
            f"The committed solutions are run on the lecture's {LECTURE_NAMES:,} names. "
            "Set MAKEMORE_NAMES to the file, or build where it can be downloaded."
        )
    for source in find_sources(names):
        notebook = read_notebook(source)
        blank, solution = make_blank(notebook), execute(notebook)
        write_notebook(blank, BLANKS / f"{source.stem}.ipynb")
        write_notebook(solution, SOLUTIONS / f"{source.stem}.ipynb")
    BLANK_CELLS.write_text(make_blank_cells(), encoding="utf-8")
    click.echo(f"wrote {BLANK_CELLS}")


def make_blank_cells() -> str:
    """The file of what `grader reset` puts back."""
    blanks = {source.stem: make_blank(read_notebook(source)) for source in find_sources()}
    return blank_cells_file(
        {
            name: blank_cells([cell.source for cell in blank.cells if cell.cell_type == "code"])
            for name, blank in blanks.items()
        }
    )
