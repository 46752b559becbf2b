from pathlib import Path

import pytest

from grader.authoring.course import load_hints, read_notebook
from grader.authoring.source import SourceError
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


@pytest.mark.parametrize("text", ["[ex1]\nda = 1\n", "ex1 = 1\n", "[ex1]\nda = [1]\n"])
def test_hints_that_cannot_be_read(text: str, tmp_path: Path) -> None:
    (tmp_path / "hints.toml").write_text(text, encoding="utf-8")
    with pytest.raises(SourceError, match=r"hints\.toml cannot be read: \[ex1\] has to be a table"):
        load_hints(tmp_path / "hints.toml")
