from pathlib import Path

import nbformat

from grader.course.mark import mark
from grader.course.read import read_notebook


def test_a_cell_that_depends_on_the_names_is_not_compared(toy_course: Path) -> None:
    solutions = Path("notebooks/solutions")
    solutions.mkdir()
    nbformat.write(read_notebook(Path("notebooks/source/01_toy.py")), solutions / "01_toy.ipynb")
    mark(toy_course / "marked")
    marked = nbformat.read(toy_course / "marked/01_toy.ipynb", 4)
    assert [cell.metadata.get("tags") for cell in marked.cells] == [
        None,
        ["data-dependent", "nbval-ignore-output"],
        None,
        None,
        None,
    ]
