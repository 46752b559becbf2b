from pathlib import Path

import nbformat
import pytest

from grader.course.build import build
from grader.course.verify import verify
from grader.source import SourceError


@pytest.mark.usefixtures("toy_course")
def test_build_makes_what_verify_expects() -> None:
    build()
    assert verify() == []

    blank, solution = Path("notebooks/01_toy.ipynb"), Path("notebooks/solutions/01_toy.ipynb")
    assert "all right" not in blank.read_text(encoding="utf-8")
    code = [cell for cell in nbformat.read(solution, 4).cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in code] == [1, 2, 3, 4]
    assert code[0].outputs[0].text == "3 names from names.txt\n", "no folder of this machine"
    assert code[2].outputs[0].text == "all right\n"
    assert code[3].outputs[0].data["text/plain"] == "<object at 0x...>"

    blank_cells = Path("grader/blank_cells.json").read_text(encoding="utf-8")
    assert "da = ...  # your turn" in blank_cells

    before = blank.read_bytes(), solution.read_bytes()
    build()
    assert (blank.read_bytes(), solution.read_bytes()) == before


def test_solutions_are_run_on_the_lectures_names_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("grader.course.build.load_names", lambda: ["ann"])
    with pytest.raises(SourceError, match=r"run on the lecture's 32,033 names. Set MAKEMORE_NAMES"):
        build()


@pytest.mark.usefixtures("toy_course")
def test_an_unknown_notebook_is_named() -> None:
    with pytest.raises(SourceError, match=r"no notebook 02_toy; there are 01_toy\."):
        build(["02_toy"])
