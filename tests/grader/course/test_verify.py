from pathlib import Path

import pytest

from grader.course.build import build
from grader.course.verify import verify
from tests.grader.course.toy_course import edit


def complaints() -> str:
    return "\n".join(verify())


@pytest.mark.usefixtures("toy_course")
def test_verify_notices_what_a_maintainer_might_forget() -> None:
    build()
    assert complaints() == ""
    blank, solution = Path("notebooks/01_toy.ipynb"), Path("notebooks/solutions/01_toy.ipynb")
    blank_cells = Path("grader/blank_cells.json").read_text(encoding="utf-8")

    edit("notebooks/source/01_toy.py", "all right", "all wrong")
    messages = complaints()
    assert "notebooks/solutions/01_toy.ipynb is out of date: the source of its cell 4" in messages
    assert "# answer: ex1-toy" in messages
    assert "notebooks/01_toy.ipynb" not in messages, "the student's copy does not change with it"
    edit("notebooks/source/01_toy.py", "all wrong", "all right")

    edit("pyproject.toml", "github.com/a/b", "github.com/c/d")
    assert "notebooks/01_toy.ipynb is out of date: the source of its cell 1" in complaints()
    edit("pyproject.toml", "github.com/c/d", "github.com/a/b")

    edit("notebooks/01_toy.ipynb", '"points": 1', '"points": 2')
    assert "the metadata of its cell 5" in complaints()
    edit("notebooks/01_toy.ipynb", '"points": 2', '"points": 1')

    edit("notebooks/source/01_toy.py", "# %%\ndef", "# %%\n1 + 1\n\n# %%\ndef")
    assert "is out of date" in complaints()
    edit("notebooks/source/01_toy.py", "# %%\n1 + 1\n\n# %%\ndef", "# %%\ndef")

    edit("grader/blank_cells.json", "your turn", "my turn")
    assert complaints() == (
        "grader/blank_cells.json is out of date: its blanks are not those of notebooks/source."
    )
    Path("grader/blank_cells.json").unlink()
    assert "grader/blank_cells.json is out of date" in complaints()
    Path("grader/blank_cells.json").write_text(blank_cells, encoding="utf-8")

    edit("notebooks/solutions/01_toy.ipynb", '"execution_count": 2', '"execution_count": null')
    assert "has cells that were not run" in complaints()

    blank.write_bytes(solution.read_bytes())
    assert "01_toy.ipynb has been run: the student's copy has no outputs" in complaints()
    blank.unlink()
    assert "notebooks/01_toy.ipynb is missing" in complaints()
