"""A notebook carries what its own exercises need, and can be read as a course."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest

from grader.authoring.carried_files import without_others
from grader.authoring.course import Layout, read_notebook
from grader.authoring.draft.write import write_course
from grader.program.course import HINTS_FILE, Course, read_course, read_hints
from grader.program.exercises import load_exercises
from grader.submission.carried_course import carried_files, unpack
from grader.submission.notebook_file import Cell
from tests.helpers.small_course import write_course as write_small_course

FORWARDS = '''\
"""Two of them."""

import torch
from torch import Tensor
from typing import Annotated

EPS = 1e-5


# The first.
def scale(x: Annotated[Tensor, "n, d"], s: Annotated[Tensor, "d"]) -> Tensor:
    """Say \\"\\"\\" here."""
    shifted = x + EPS
    out = s * shifted
    return out


# The second.
def move(x: Annotated[Tensor, "n, m"], b: Annotated[Tensor, "m"]) -> Tensor:
    out = x + b
    return out
'''


@pytest.fixture
def course(tmp_path: Path) -> Course:
    (tmp_path / "two.py").write_text(FORWARDS, encoding="utf-8")
    write_course(tmp_path / "two.py", tmp_path / "two")
    return read_course(tmp_path / "two")


def carried(course: Course, notebook: str) -> dict[str, str]:
    source = course.folder / "source" / f"{notebook}.py"
    cells = read_notebook(source, layout=Layout.of(course)).cells
    return carried_files([Cell(0, cell.cell_type, cell.source, {}) for cell in cells])


def test_each_notebook_carries_its_own_exercises(course: Course) -> None:
    (scale, move) = course.exercises
    found = {each: carried(course, each.notebook) for each in course.exercises}
    for own, other in ((scale, move), (move, scale)):
        files = found[own]
        assert sorted(files) == ["course.toml", "forward.py", "hints.toml"]
        alone = read_course(unpack(files))
        assert alone.exercises == (own,)
        assert (alone.title, alone.repository) == (course.title, course.repository)
        assert read_hints(alone.folder / HINTS_FILE) == {
            own.prefix: read_hints(course.folder / HINTS_FILE)[own.prefix]
        }
        assert [each.prefix for each in load_exercises(alone)] == [own.prefix]
        whole = json.dumps(files, ensure_ascii=False)
        for name in (other.prefix, other.notebook, other.function, f"# The {other.function}"):
            assert name not in whole
    assert "# The first." in found[scale]["forward.py"]
    assert "# The second." not in found[scale]["forward.py"]


TEXT = """\
# Kept.
from math import tau

def double(x):
    return 2 * x

# One.
@double
def one(x):
    return helper(x) + tau

def helper(x):
    return double(x) if x else helper(x)

TABLE = [two_too]  # kept

def two(x): return one(x)

# Only of three.

def three(x):
    return x

def two_too(x):
    return x
# The end.
"""


@pytest.mark.parametrize(
    ("wanted", "left"),
    [
        ("one", ["double", "one", "helper", "two_too"]),
        ("two", ["double", "one", "helper", "two", "two_too"]),
        ("three", ["three", "two_too"]),
    ],
)
def test_a_function_stays_that_another_needs(wanted: str, left: list[str]) -> None:
    text = without_others(TEXT, [wanted])
    body = ast.parse(text).body
    assert [node.name for node in body if isinstance(node, ast.FunctionDef)] == left
    assert text.startswith("# Kept.\nfrom math import tau\n")
    assert ("# One.\n@double" in text) == ("one" in left)
    assert ("# Only of three." in text) == ("three" in left)
    assert "TABLE = [two_too]  # kept\n" in text


def test_what_is_needed_is_left_as_it_is(tmp_path: Path) -> None:
    (source,) = read_course(write_small_course(tmp_path)).sources
    assert without_others(source[1], ["rms_norm"]) == source[1]
