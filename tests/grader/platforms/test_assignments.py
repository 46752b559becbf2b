import ast
import re
from functools import cache
from pathlib import Path

import nbformat
import pytest
import yaml
from nbformat import NotebookNode

from corpus.readers.lecture_course import EXERCISES, NOTEBOOKS
from grader.authoring.blank import make_blank
from grader.authoring.course import find_sources, read_notebook
from grader.authoring.source import checked_gradients, role_of
from grader.platforms.assignments import (
    nbgrader_assignment,
    otter_assignment,
    write_nbgrader,
    write_otter,
)
from grader.platforms.otter import GRADED_BY, HANDED_IN, AnswersOnly


@pytest.fixture
def notebooks(project: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, NotebookNode]:
    monkeypatch.chdir(project)
    return _notebooks()


@cache
def _notebooks() -> dict[str, NotebookNode]:
    """All of the course, with their solutions."""
    return {source.stem: read_notebook(source) for source in find_sources()}


def graded(assignment: NotebookNode, kind: str) -> list[NotebookNode]:
    return [cell for cell in assignment.cells if cell.metadata.get("nbgrader", {}).get(kind)]


def cleared(source: str) -> str:
    """What nbgrader leaves of a cell with the settings of the course: an empty line."""
    return re.sub(r"### BEGIN SOLUTION\n.*?### END SOLUTION", "", source, flags=re.DOTALL)


def test_without_its_solutions_it_is_the_blank(notebooks: dict[str, NotebookNode]) -> None:
    for notebook in notebooks.values():
        assignment, blank = nbgrader_assignment(notebook), make_blank(notebook)
        for cell, due in zip(assignment.cells, blank.cells, strict=True):
            if cell not in graded(assignment, "grade"):
                assert cleared(cell.source).split() == due.source.split()
                assert cell.metadata == due.metadata


def test_solutions_stand_in_answer_cells_only(notebooks: dict[str, NotebookNode]) -> None:
    for notebook in notebooks.values():
        assignment = nbgrader_assignment(notebook)
        marked = [cell for cell in assignment.cells if "SOLUTION" in cell.source]
        assert marked == graded(assignment, "solution")


def test_no_gradient_is_asked_for_twice(notebooks: dict[str, NotebookNode]) -> None:
    """A second `dX = ...`, below the first solution, would take its value away again."""
    for name, notebook in notebooks.items():
        source = "\n".join(
            cell.source for cell in graded(nbgrader_assignment(notebook), "solution")
        )
        asked = re.findall(r"^(\w+) = \.\.\.", source, re.MULTILINE)
        gradients = [d for e in EXERCISES if e.notebook == name for d in e.gradients]
        assert sorted(asked) == sorted(gradients)


def test_points_are_those_of_the_course(notebooks: dict[str, NotebookNode]) -> None:
    ids = []
    for name, notebook in notebooks.items():
        checks = graded(nbgrader_assignment(notebook), "grade")
        most = sum(len(e.gradients) for e in EXERCISES if e.notebook == name)
        assert sum(cell.metadata.nbgrader.points for cell in checks) == most
        ids += [c.metadata.nbgrader.grade_id for c in checks + graded(notebook, "solution")]
    assert len(set(ids)) == len(ids) > 0


def test_a_check_cells_last_value_are_the_points_of_what_it_checks(
    notebooks: dict[str, NotebookNode],
) -> None:
    for notebook in notebooks.values():
        for cell in graded(nbgrader_assignment(notebook), "grade"):
            last = ast.parse(cell.source).body[-1]
            assert isinstance(last, ast.Expr)
            assert isinstance(last.value, ast.Call)
            assert ast.unparse(last.value.func) == "points"
            assert tuple(map(ast.literal_eval, last.value.args)) == checked_gradients(cell.source)
            assert len(last.value.args) == cell.metadata.nbgrader.points
            assert max(map(len, cell.source.splitlines())) <= 100


def test_the_check_cell_takes_its_functions_from_the_course(toy_course: Path) -> None:
    """A student may have given their names to something else."""
    (check,) = graded(
        nbgrader_assignment(read_notebook(toy_course / "notebooks/source/01_toy.py")), "grade"
    )
    assert check.source == (
        '# check: ex1-toy\nfrom grader import check, points\n\ncheck("da")\npoints("da")'
    )


def test_a_course_folder_keeps_the_settings_it_has(
    toy_course: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = toy_course / "out"
    write_nbgrader(out)
    settings, notebook = out / "nbgrader_config.py", out / "source/backprop/01_toy.ipynb"
    compile(settings.read_text(encoding="utf-8"), settings, "exec")
    settings.write_text("c = get_config()\n", encoding="utf-8")
    notebook.unlink()
    write_nbgrader(out)
    assert notebook.is_file()
    assert settings.read_text(encoding="utf-8") == "c = get_config()\n"
    assert f"kept {settings}, which was there already\n" in capsys.readouterr().out


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
    assignment = otter_assignment(notebook, ADDRESS)
    blank = make_blank(notebook)
    tests = otters_tests(assignment)
    own = [c for c in assignment.cells if c.cell_type != "raw" and c.source not in tests]
    assert [released(cell) for cell in own] == [cell.source for cell in blank.cells]
    assert [(c["id"], c.metadata) for c in own] == [(c["id"], c.metadata) for c in blank.cells]


def test_every_block_begins_and_ends_where_otter_wants_it(notebook: NotebookNode) -> None:
    blocks: list[str | None] = [None]
    held = {"QUESTION": 0, "SOLUTION": 0, "TESTS": 0}
    for cell in otter_assignment(notebook, ADDRESS).cells:
        role = role_of(cell)
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
    for source in otters_tests(otter_assignment(notebook, ADDRESS)):
        _, config, test = source.split('"""')
        points += yaml.safe_load(config)["points"]
        (function,) = ast.parse(test.removeprefix(" # END TEST CONFIG\n")).body
        assert isinstance(function, ast.FunctionDef)
        assert [argument.arg for argument in function.args.args] == [HANDED_IN, GRADED_BY]
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
    config = yaml.safe_load(otter_assignment(notebook, ADDRESS).cells[0].source)
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
