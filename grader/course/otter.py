"""The assignments of otter-grader, made from the sources of the notebooks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_notebook, new_raw_cell

from grader.blank import gradients_checked_in, make_blank, with_placeholders
from grader.course.files import find_sources, write_notebook
from grader.course.read import read_notebook, read_repository
from grader.otter import HANDED_IN
from grader.source import BEGIN_SOLUTION, END_SOLUTION, Role, checked_gradients, role_of

# All tests are public, so that a student reads on Gradescope what became of each. The cell that
# exports a submission makes no PDF, which needs programs that students do not have, and runs no
# tests: that would run the whole notebook again, and the check cells have said it already.
CONFIG = """\
# ASSIGNMENT CONFIG
requirements:
    - backprop-ninja @ git+{repository}
plugins:
    - grader.otter.AnswersOnly
tests:
    ok_format: false
generate:
    show_hidden: true
    show_all_public: true
    force_public_test_summary: false
export_cell:
    pdf: false
    run_tests: false"""

QUESTION = """\
# BEGIN QUESTION
name: {role.grade_id}
check_cell: false"""

TEST = '''\
""" # BEGIN TEST CONFIG
points: 1
""" # END TEST CONFIG
def test_{gradient}({handed_in}):
    from grader.otter import expect_point
    expect_point("{role.exercise}", "{gradient}", {handed_in})'''


def write_otter(out: Path) -> None:
    """Write an otter-grader assignment for each notebook, for `otter assign`."""
    repository = read_repository()
    for source in find_sources():
        assignment = make_assignment(read_notebook(source), repository)
        write_notebook(assignment, out / f"{source.stem}.ipynb")


def make_assignment(notebook: NotebookNode, repository: str) -> NotebookNode:
    """A notebook with its solutions as `otter assign` takes it.

    Each answer cell begins a question that ends with its check cell; each gradient has a test worth
    a point.
    """
    gradients = gradients_checked_in(notebook)
    cells = [new_raw_cell(CONFIG.format(repository=repository), id="otter")]
    for cell, blank in zip(notebook.cells, make_blank(notebook).cells, strict=True):
        role = role_of(cell.source) if cell.cell_type == "code" else None
        if role and role.kind == "answer":
            cells += _answer(role, cell, gradients)
        elif role and role.kind == "check":
            cells += _check(role, cell)
        else:
            # A try as well: nobody grades it, and otter takes solutions out of questions only.
            cells.append(blank)
    assignment: NotebookNode = new_notebook(cells=cells, metadata=notebook.metadata)
    assignment.nbformat_minor = notebook.nbformat_minor
    nbformat.validate(assignment)
    return assignment


def _answer(role: Role, cell: NotebookNode, gradients: Sequence[str]) -> Iterator[NotebookNode]:
    """The beginning of a question, with its solution.

    What a student begins with stands before the solutions, and otter puts nothing in their place.
    """
    source = with_placeholders(cell.source, gradients)
    source = source.replace(BEGIN_SOLUTION, "# BEGIN SOLUTION NO PROMPT")
    source = source.replace(END_SOLUTION, "# END SOLUTION")
    yield new_raw_cell(QUESTION.format(role=role), id=f"{role.grade_id}-question")
    yield new_raw_cell("# BEGIN SOLUTION", id=f"{role.grade_id}-begin")
    yield nbformat.from_dict({**cell, "source": source})
    yield new_raw_cell("# END SOLUTION", id=f"{role.grade_id}-end")


def _check(role: Role, cell: NotebookNode) -> Iterator[NotebookNode]:
    """The end of a question, with its tests."""
    yield cell
    yield new_raw_cell("# BEGIN TESTS", id=f"{role.grade_id}-tests")
    for gradient in checked_gradients(cell.source):
        source = TEST.format(role=role, gradient=gradient, handed_in=HANDED_IN)
        yield new_code_cell(source, id=f"{role.grade_id}-{gradient}")
    yield new_raw_cell("# END TESTS", id=f"{role.grade_id}-tested")
    yield new_raw_cell("# END QUESTION", id=f"{role.grade_id}-done")
