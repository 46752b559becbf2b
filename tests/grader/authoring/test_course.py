from pathlib import Path

import pytest

from grader.authoring.course import load_hints, read_notebook
from grader.authoring.source import SourceError
from tests.helpers.toy_course import edit

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


@pytest.mark.parametrize("text", ["[ex1]\nda = 1\n", "ex1 = 1\n", "[ex1]\nda = [1]\n"])
def test_hints_that_cannot_be_read(text: str, tmp_path: Path) -> None:
    (tmp_path / "hints.toml").write_text(text, encoding="utf-8")
    with pytest.raises(SourceError, match=r"hints\.toml cannot be read: \[ex1\] has to be a table"):
        load_hints(tmp_path / "hints.toml")
