"""The course as assignments for nbgrader and otter-grader, made from the notebooks' sources."""

from __future__ import annotations

import copy
import json
import shutil
import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path

import click
import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_notebook, new_raw_cell

from grader.authoring.blank import make_blank, with_placeholders
from grader.authoring.course import (
    OURS,
    Layout,
    package_repository,
    read_notebooks,
    read_repository,
    write_notebook,
)
from grader.authoring.source import (
    BEGIN_SOLUTION,
    END_SOLUTION,
    Role,
    all_checked,
    checked_gradients,
    role_of,
)
from grader.platforms.otter import GRADED_BY, HANDED_IN
from grader.program.course import FILE, read_text

ASSIGNMENT = "backprop"
LINE_LENGTH = 100
SETTINGS = Path(__file__).with_name("nbgrader_config.py.txt")
"""The settings that nbgrader runs as Python. They are not a module of the grader."""

CONFIG = Path(__file__).with_name("otter_config.yml")
"""The settings of `otter assign`. All tests are public, so that a student can read the result of
each on Gradescope. The cell that exports a submission makes no PDF, because this needs programs
that students do not have, and runs no tests, because the check cells have already run them."""

QUESTION = """\
# BEGIN QUESTION
name: {role.grade_id}
check_cell: false"""

TEST = '''\
""" # BEGIN TEST CONFIG
points: {points}
""" # END TEST CONFIG
def test_{gradient}({handed_in}, {graded_by}):
    from grader.platforms.otter import expect_point
    expect_point("{role.exercise}", "{gradient}", {handed_in}, {graded_by})'''


def write_nbgrader(out: Path) -> None:
    """Write a course folder for nbgrader: its settings, and the notebooks with their solutions.

    Everything that was released, handed in or graded there stays as it is, and so do the settings.
    """
    for name, notebook in read_notebooks().items():
        assignment = nbgrader_assignment(notebook)
        write_notebook(assignment, out / "source" / ASSIGNMENT / f"{name}.ipynb")
    settings = out / SETTINGS.stem
    if settings.is_file():
        click.echo(f"kept {settings}, which was there already")
    else:
        shutil.copyfile(SETTINGS, settings)
        click.echo(f"wrote {settings}")


def nbgrader_assignment(notebook: NotebookNode) -> NotebookNode:
    """A notebook with its solutions, which nbgrader removes from the student's copy.

    nbgrader replaces every solution by the same text. Therefore the student's beginning,
    `dX = ...  # your turn`, is written before the solution. A check cell ends with the points that
    its gradients have earned, because nbgrader takes the last value for partial credit.
    """
    assignment = copy.deepcopy(notebook)
    gradients = all_checked(notebook.cells)
    for cell, blank in zip(assignment.cells, make_blank(notebook).cells, strict=True):
        role = role_of(cell)
        match role.kind if role else None:
            case "answer":
                cell.source = with_placeholders(cell.source, gradients)
            case "check":
                cell.source = _with_points(cell.source)
            case "try":
                # It is not graded, and nbgrader allows solutions in graded cells only.
                cell.source = blank.source
    nbformat.validate(assignment)
    return assignment


def write_otter(out: Path, layout: Layout = OURS) -> None:
    """Write an otter-grader assignment for each notebook of a course, for `otter assign`."""
    course = layout.course
    repository = package_repository() if course else read_repository()
    names = course.notebooks if course else ()
    for name, notebook in read_notebooks(names, layout=layout).items():
        write_notebook(otter_assignment(notebook, repository, layout), out / f"{name}.ipynb")


def otter_assignment(
    notebook: NotebookNode, repository: str, layout: Layout = OURS
) -> NotebookNode:
    """A notebook with its solutions, in the form that `otter assign` takes.

    Each answer cell begins a question that ends with its check cell, and each gradient has a test
    that is worth its points. A course other than the built-in one is put into the first cell, which
    otter copies into the autograder.
    """
    gradients, course, own, points = all_checked(notebook.cells), layout.course, "", {}
    if course is not None:
        files = {FILE: read_text(course.folder / FILE), **dict(course.sources)}
        own = f": {json.dumps({'course': files}, ensure_ascii=False)}"
        points = {outline.prefix: outline.points for outline in course.exercises}
    config = CONFIG.read_text("utf-8").format(repository=repository, course=own).strip()
    cells = [new_raw_cell(config, id="otter")]
    blanks = make_blank(notebook, layout.forward_texts()).cells
    for cell, blank in zip(notebook.cells, blanks, strict=True):
        role = role_of(cell)
        if role and role.kind == "answer":
            cells += _answer(role, cell, gradients)
        elif role and role.kind == "check":
            cells += _check(role, cell, points.get(role.exercise, 1))
        else:
            # A try as well: it is not graded, and otter takes solutions out of questions only.
            cells.append(blank)
    assignment: NotebookNode = new_notebook(cells=cells, metadata=notebook.metadata)
    assignment.nbformat_minor = notebook.nbformat_minor
    nbformat.validate(assignment)
    return assignment


def _with_points(source: str) -> str:
    """A check cell whose last value is the points that it has earned."""
    role, _, checks = source.partition("\n")
    # Imported in the cell, because a student may have used these names for something else.
    names = "from grader import check, points"
    quoted = ", ".join(f'"{gradient}"' for gradient in checked_gradients(source))
    points = textwrap.fill(f"points({quoted})", LINE_LENGTH, subsequent_indent=" " * 7)
    return f"{role}\n{names}\n\n{checks}\n{points}"


def _answer(role: Role, cell: NotebookNode, gradients: Sequence[str]) -> Iterator[NotebookNode]:
    """The beginning of a question, with its solution.

    The student's beginning is written before the solutions, since otter replaces them by nothing.
    """
    source = with_placeholders(cell.source, gradients)
    source = source.replace(BEGIN_SOLUTION, "# BEGIN SOLUTION NO PROMPT")
    source = source.replace(END_SOLUTION, "# END SOLUTION")
    yield new_raw_cell(QUESTION.format(role=role), id=f"{role.grade_id}-question")
    yield new_raw_cell("# BEGIN SOLUTION", id=f"{role.grade_id}-begin")
    yield nbformat.from_dict({**cell, "source": source})
    yield new_raw_cell("# END SOLUTION", id=f"{role.grade_id}-end")


def _check(role: Role, cell: NotebookNode, points: int) -> Iterator[NotebookNode]:
    """The end of a question, with a test for each gradient that is worth so many points."""
    yield cell
    yield new_raw_cell("# BEGIN TESTS", id=f"{role.grade_id}-tests")
    for gradient in checked_gradients(cell.source):
        names = {"handed_in": HANDED_IN, "graded_by": GRADED_BY}
        source = TEST.format(role=role, gradient=gradient, points=points, **names)
        yield new_code_cell(source, id=f"{role.grade_id}-{gradient}")
    yield new_raw_cell("# END TESTS", id=f"{role.grade_id}-tested")
    yield new_raw_cell("# END QUESTION", id=f"{role.grade_id}-done")
