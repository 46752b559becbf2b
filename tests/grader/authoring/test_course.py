from pathlib import Path

import pytest

from grader.authoring.course import read_notebook
from grader.authoring.source import SourceError
from grader.program.course import BadCourse
from tests.helpers.toy_course import edit

TOY = Path("notebooks/source/01_toy.py")


@pytest.mark.usefixtures("toy_course")
def test_a_shared_cell_is_put_in() -> None:
    edit(str(TOY), "import os\n", "# {{ cell: setup }}\nimport os\n")
    setup = read_notebook(TOY).cells[1].source
    assert "git+https://github.com/a/b" in setup
    assert setup.endswith('import os\nprint("3 names from", os.environ["MAKEMORE_NAMES"])')
    edit(str(TOY), "cell: setup", "cell: missing")
    with pytest.raises(SourceError, match=r"cell that is not there; there are course, setup\."):
        read_notebook(TOY)


@pytest.mark.usefixtures("toy_course")
def test_hints_that_cannot_be_read_are_said() -> None:
    """By the reader that `hint` has: see `tests/grader/notebook/test_hints.py`."""
    path = Path("makemore_data/course/hints.toml")
    path.write_text('[ex1]\nda = ["a", 1]\n', encoding="utf-8")
    with pytest.raises(BadCourse) as error:
        read_notebook(TOY)
    assert str(error.value) == f"{path}, [ex1]: the hints for da have to be a list of texts."
