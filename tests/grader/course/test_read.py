from pathlib import Path

import pytest

from grader.course.read import read_notebook
from grader.source import SourceError
from tests.grader.course.toy_course import edit

TOY = Path("notebooks/source/01_toy.py")


@pytest.mark.usefixtures("toy_course")
def test_a_shared_cell_is_put_in_and_followed() -> None:
    shared = Path("notebooks/source/cells/setup.py")
    shared.parent.mkdir()
    shared.write_text("ready = True\n", encoding="utf-8")
    edit(str(TOY), "import os\n", "# {{ cell: setup }}\nimport os\n")
    assert "ready = True\nimport os" in read_notebook(TOY).cells[1].source
    edit(str(shared), "True", "False")
    assert "ready = False\nimport os" in read_notebook(TOY).cells[1].source
    edit(str(TOY), "cell: setup", "cell: missing")
    with pytest.raises(SourceError, match=r"asks for .*missing\.py, which is not there"):
        read_notebook(TOY)
