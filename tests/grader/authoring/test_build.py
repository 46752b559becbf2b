from pathlib import Path

import nbformat
import pytest

from grader.authoring.blank import make_blank
from grader.authoring.build import build, execute, fill_in, mark, verify
from grader.authoring.course import read_notebook
from grader.authoring.source import SourceError
from tests.helpers.toy_course import edit


@pytest.mark.slow
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

    assert "da = ...  # your turn" in blank.read_text(encoding="utf-8")

    before = blank.read_bytes(), solution.read_bytes()
    build()
    assert (blank.read_bytes(), solution.read_bytes()) == before


def test_solutions_are_run_on_the_lectures_names_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("grader.authoring.build.load_names", lambda: ["ann"])
    with pytest.raises(SourceError, match=r"run on the lecture's 32,033 names. Set MAKEMORE_NAMES"):
        build()


@pytest.mark.usefixtures("toy_course")
def test_a_notebook_without_names_is_built_offline(monkeypatch: pytest.MonkeyPatch) -> None:
    source = Path("notebooks/source/01_toy.py")
    text = source.read_text(encoding="utf-8")
    assert "load_names" not in text
    monkeypatch.setattr("grader.authoring.build.load_names", lambda: ["ann"])
    monkeypatch.setattr("grader.authoring.build.execute", lambda notebook: notebook)
    build()
    source.write_text(f"{text}\n# %%\nfrom makemore_data import load_names\n", encoding="utf-8")
    with pytest.raises(SourceError, match="solutions of 01_toy are run on the lecture's 32,033"):
        build()


@pytest.mark.usefixtures("toy_course")
def test_an_unknown_notebook_is_named() -> None:
    with pytest.raises(SourceError, match=r"no notebook 02_toy; there are 01_toy\."):
        build(["02_toy"])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("find", "replace", "sentence"),
    [
        (
            "print(da)",
            "1 / 0",
            "The cell that begins `.*` raises ZeroDivisionError: division by zero",
        ),
        (
            "print(da)",
            "import sys; print(da, file=sys.stderr)",
            "The cell ex1-toy writes to stderr",
        ),
        ("print(da)", "print(os.path.expanduser('~/x'))", "shows a folder of this machine"),
    ],
)
@pytest.mark.usefixtures("toy_course")
def test_a_solution_unfit_for_publishing_is_refused(find: str, replace: str, sentence: str) -> None:
    edit("notebooks/source/01_toy.py", find, replace)
    with pytest.raises(SourceError, match=sentence):
        build()
    assert not list(Path("notebooks").glob("**/*.ipynb"))


@pytest.mark.slow
def test_an_empty_variable_for_the_names_is_not_taken_for_a_path(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("MAKEMORE_NAMES", "")
    cell = nbformat.v4.new_code_cell("import os; print(repr(os.environ['MAKEMORE_NAMES']))")
    executed = execute(nbformat.v4.new_notebook(cells=[cell]))
    assert executed.cells[0].outputs[0].text == "''\n"


def complaints() -> str:
    return "\n".join(verify())


@pytest.mark.slow
@pytest.mark.usefixtures("toy_course")
def test_verify_notices_what_a_maintainer_might_forget() -> None:
    build()
    assert complaints() == ""
    blank, solution = Path("notebooks/01_toy.ipynb"), Path("notebooks/solutions/01_toy.ipynb")

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

    edit("makemore_data/course/boards.json", ">dlogits<", ">dolder<")
    assert complaints() == f"{Path('makemore_data/course/boards.json')} is out of date."
    edit("makemore_data/course/boards.json", ">dolder<", ">dlogits<")

    edit("notebooks/solutions/01_toy.ipynb", '"execution_count": 2', '"execution_count": null')
    assert "has cells that were not run" in complaints()

    blank.write_bytes(solution.read_bytes())
    assert "01_toy.ipynb has been run: the student's copy has no outputs" in complaints()
    blank.unlink()
    assert "notebooks/01_toy.ipynb is missing" in complaints()


@pytest.mark.slow
@pytest.mark.usefixtures("toy_course")
def test_verify_notices_a_solution_that_fails_its_own_check() -> None:
    build()
    solution = Path("notebooks/solutions/01_toy.ipynb")
    solved = nbformat.read(solution, as_version=4)
    solved.cells[-1].outputs = [nbformat.v4.new_output("stream", text="100 steps | fail\n  why\n")]
    nbformat.write(solved, solution)
    said = f"{solution} does not pass its own check. It prints `100 steps | fail`."
    assert complaints() == said


def test_a_cell_that_depends_on_the_names_is_not_compared(toy_course: Path) -> None:
    solutions = Path("notebooks/solutions")
    solutions.mkdir()
    nbformat.write(read_notebook(Path("notebooks/source/01_toy.py")), solutions / "01_toy.ipynb")
    mark(toy_course / "marked")
    marked = nbformat.read(toy_course / "marked/01_toy.ipynb", 4)
    assert [cell.metadata.get("tags") for cell in marked.cells] == [
        None,
        ["data-dependent", "nbval-ignore-output"],
        None,
        None,
        None,
    ]


@pytest.mark.usefixtures("toy_course")
def test_fill_writes_a_submission_for_each_file() -> None:
    toy = read_notebook(Path("notebooks/source/01_toy.py"))
    blank, answers, out = Path("blank.ipynb"), Path("ann.py"), Path("out")
    nbformat.write(make_blank(toy), blank)
    answers.write_text("# answer: ex1-toy\nda = 'hm'\n", encoding="utf-8")
    fill_in(blank, [answers], out)
    assert "da = 'hm'" in (out / "ann.ipynb").read_text(encoding="utf-8")
    answers.write_text("# answer: ex7-toy\n", encoding="utf-8")
    with pytest.raises(SourceError, match=r"ann\.py: there is no answer cell ex7-toy"):
        fill_in(blank, [answers], out)
