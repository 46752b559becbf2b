from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from grader.submission.answer_cells import find_answer_cells, role_comments, which_notebook
from grader.submission.notebook_file import Cell

KNOWN = {"ex1": "01_one", "ex2": "02_two", "ex2s": "02_two"}


def cell(source: str = "", kind: str = "code", **nbgrader: Any) -> Cell:
    return Cell(1, kind, source, nbgrader)


@pytest.mark.parametrize(
    ("source", "roles"),
    [
        ("# answer: ex1-a\nx", [("answer", "ex1-a")]),
        ("%%time\n\n# mine\n#check:ex1-a", [("check", "ex1-a")]),
        ("# try: ex3-f\n# answer: ex1-a", [("try", "ex3-f"), ("answer", "ex1-a")]),
        ("x = 1\n# answer: ex1-a", []),
        ("# answer: two words", []),
        ("", []),
    ],
)
def test_roles_stand_in_the_first_lines(source: str, roles: list[tuple[str, str]]) -> None:
    assert list(role_comments(source)) == roles


def test_metadata_count_before_comments() -> None:
    cells = [
        cell("# answer: ex1-a", grade_id="ex1-b", solution=True),
        cell("# answer: ex1-a", grade_id="ex1-a-check", solution=False),
        cell("# answer: ex1-c"),
        cell("# check: ex1-d"),
        cell("", grade_id=3, solution=True),
    ]
    assert [grade_id for grade_id, _ in find_answer_cells(cells)] == ["ex1-b", "ex1-c"]


@pytest.mark.parametrize(
    ("ids", "notebook"),
    [
        (["ex1-a"], "01_one"),
        (["ex1-a", "ex2-a", "ex2s-b"], "02_two"),
        (["ex2-a", "ex1-a", "ex1-a", "ex2-b"], "02_two"),
        (["ex9-a", "ex9-b", "ex1-a"], "01_one"),
    ],
)
def test_most_answers_say_which_notebook_it_is(ids: list[str], notebook: str) -> None:
    cells = [cell(f"# answer: {grade_id}") for grade_id in ids]
    assert which_notebook(Path("x.ipynb"), cells, KNOWN) == notebook
