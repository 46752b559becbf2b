import ast
import re
from functools import cache
from pathlib import Path

import pytest
from nbformat import NotebookNode

from grader.blank import make_blank
from grader.course.files import find_sources
from grader.course.nbgrader import as_assignment, write_course
from grader.course.read import read_notebook
from grader.exercises import EXERCISES
from grader.source import checked_gradients


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
        assignment, blank = as_assignment(notebook), make_blank(notebook)
        for cell, due in zip(assignment.cells, blank.cells, strict=True):
            if cell not in graded(assignment, "grade"):
                assert cleared(cell.source).split() == due.source.split()
                assert cell.metadata == due.metadata


def test_solutions_stand_in_answer_cells_only(notebooks: dict[str, NotebookNode]) -> None:
    for notebook in notebooks.values():
        assignment = as_assignment(notebook)
        marked = [cell for cell in assignment.cells if "SOLUTION" in cell.source]
        assert marked == graded(assignment, "solution")


def test_no_gradient_is_asked_for_twice(notebooks: dict[str, NotebookNode]) -> None:
    """A second `dX = ...`, below the first solution, would take its value away again."""
    for name, notebook in notebooks.items():
        source = "\n".join(cell.source for cell in graded(as_assignment(notebook), "solution"))
        asked = re.findall(r"^(\w+) = \.\.\.", source, re.MULTILINE)
        gradients = [d for e in EXERCISES if e.notebook == name for d in e.gradients]
        assert sorted(asked) == sorted(gradients)


def test_points_are_those_of_the_course(notebooks: dict[str, NotebookNode]) -> None:
    ids = []
    for name, notebook in notebooks.items():
        checks = graded(as_assignment(notebook), "grade")
        most = sum(len(e.gradients) for e in EXERCISES if e.notebook == name)
        assert sum(cell.metadata.nbgrader.points for cell in checks) == most
        ids += [c.metadata.nbgrader.grade_id for c in checks + graded(notebook, "solution")]
    assert len(set(ids)) == len(ids) > 0


def test_a_check_cells_last_value_are_the_points_of_what_it_checks(
    notebooks: dict[str, NotebookNode],
) -> None:
    for notebook in notebooks.values():
        for cell in graded(as_assignment(notebook), "grade"):
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
        as_assignment(read_notebook(toy_course / "notebooks/source/01_toy.py")), "grade"
    )
    assert check.source == (
        '# check: ex1-toy\nfrom grader import check, points\n\ncheck("da")\npoints("da")'
    )


def test_a_course_folder_keeps_the_settings_it_has(
    toy_course: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = toy_course / "out"
    write_course(out)
    settings, notebook = out / "nbgrader_config.py", out / "source/backprop/01_toy.ipynb"
    compile(settings.read_text(encoding="utf-8"), settings, "exec")
    settings.write_text("c = get_config()\n", encoding="utf-8")
    notebook.unlink()
    write_course(out)
    assert notebook.is_file()
    assert settings.read_text(encoding="utf-8") == "c = get_config()\n"
    assert f"kept {settings}, which was there already\n" in capsys.readouterr().out
