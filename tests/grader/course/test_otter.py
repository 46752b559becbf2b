import ast
import re
from pathlib import Path

import nbformat
import pytest
import yaml
from nbformat import NotebookNode

from grader.blank import make_blank
from grader.course.files import find_sources
from grader.course.otter import make_assignment, write_otter
from grader.course.read import read_notebook
from grader.exercises import NOTEBOOKS
from grader.otter import HANDED_IN, AnswersOnly
from grader.source import role_of

ADDRESS = "https://github.com/a/b"
NEEDS_A_BLOCK = {"QUESTION": None, "SOLUTION": "QUESTION", "TESTS": "QUESTION"}


@pytest.fixture(params=list(NOTEBOOKS))
def notebook(
    request: pytest.FixtureRequest, project: Path, monkeypatch: pytest.MonkeyPatch
) -> NotebookNode:
    """A notebook of the course, as its source makes it."""
    monkeypatch.chdir(project)
    (source,) = find_sources([request.param])
    return read_notebook(source)


def released(cell: NotebookNode) -> str:
    """A cell's source as otter's published rules have it for students."""
    block = re.compile(r"[ ]*# BEGIN SOLUTION NO PROMPT\n.*?# END SOLUTION(\n|$)", re.DOTALL)
    return block.sub("", cell.source).rstrip("\n")


def otters_tests(assignment: NotebookNode) -> list[str]:
    return [c.source for c in assignment.cells if c.source.startswith('""" # BEGIN TEST CONFIG\n')]


def test_without_solutions_it_is_the_blank(notebook: NotebookNode) -> None:
    assignment = make_assignment(notebook, ADDRESS)
    blank = make_blank(notebook)
    tests = otters_tests(assignment)
    own = [c for c in assignment.cells if c.cell_type != "raw" and c.source not in tests]
    assert [released(cell) for cell in own] == [cell.source for cell in blank.cells]
    assert [(c["id"], c.metadata) for c in own] == [(c["id"], c.metadata) for c in blank.cells]


def test_every_block_begins_and_ends_where_otter_wants_it(notebook: NotebookNode) -> None:
    blocks: list[str | None] = [None]
    held = {"QUESTION": 0, "SOLUTION": 0, "TESTS": 0}
    for cell in make_assignment(notebook, ADDRESS).cells:
        role = role_of(cell.source) if cell.cell_type == "code" else None
        if cell.cell_type == "code" and "# BEGIN SOLUTION" in cell.source:
            assert role
            assert role.kind == "answer"
            assert blocks[-1] == "SOLUTION"
        if cell.cell_type != "raw" or cell.source.startswith("# ASSIGNMENT CONFIG\n"):
            continue
        edge, block = cell.source.partition("\n")[0].removeprefix("# ").split()
        if edge == "BEGIN":
            assert blocks[-1] == NEEDS_A_BLOCK[block]
            blocks.append(block)
            held[block] += 1
        else:
            assert blocks.pop() == block
    assert blocks == [None]
    assert len(set(held.values())) == 1


def test_every_gradient_has_a_test_worth_a_point(notebook: NotebookNode) -> None:
    asked, points = [], 0
    for source in otters_tests(make_assignment(notebook, ADDRESS)):
        _, config, test = source.split('"""')
        points += yaml.safe_load(config)["points"]
        (function,) = ast.parse(test.removeprefix(" # END TEST CONFIG\n")).body
        assert isinstance(function, ast.FunctionDef)
        assert [argument.arg for argument in function.args.args] == [HANDED_IN]
        call = ast.unparse(function.body[-1])
        asked.append(re.findall(r"'(\w+)'", call))
    known = [
        [exercise.prefix, gradient]
        for exercises in NOTEBOOKS.values()
        for exercise in exercises
        for gradient in exercise.gradients
        if any(cell["id"].startswith(f"{exercise.prefix}-") for cell in notebook.cells)
    ]
    assert sorted(asked) == sorted(known)
    assert points == len(known)


def test_the_first_cell_tells_otter_what_the_grading_needs(notebook: NotebookNode) -> None:
    config = yaml.safe_load(make_assignment(notebook, ADDRESS).cells[0].source)
    assert config["requirements"] == [f"backprop-ninja @ git+{ADDRESS}"]
    assert config["plugins"] == [f"{AnswersOnly.__module__}.{AnswersOnly.__name__}"]
    assert config["tests"] == {"ok_format": False}


def test_each_source_becomes_a_file(toy_course: Path) -> None:
    write_otter(Path("out"))
    assert [path.name for path in Path("out").iterdir()] == ["01_toy.ipynb"]
    assignment = nbformat.read("out/01_toy.ipynb", as_version=4)
    nbformat.validate(assignment)
    assert "git+https://github.com/a/b" in assignment.cells[0].source
    (answer,) = (cell for cell in assignment.cells if cell["id"] == "ex1-toy")
    assert answer.source.splitlines() == [
        "# answer: ex1-toy",
        "da = ...  # your turn",
        "# BEGIN SOLUTION NO PROMPT",
        'da = "all right"',
        "# END SOLUTION",
        "print(da)",
    ]
