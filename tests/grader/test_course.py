import os
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from grader import course
from grader.blank import make_blank
from grader.source import SourceError

SOURCE = """# %% [markdown]
# {{ colab }}
# {{ hints: da }}

# %% tags=["data-dependent"]
import os
print("3 names from", os.environ["MAKEMORE_NAMES"])

# %%
def check(*names):
    return object()

# %%
# answer: ex1-toy
### BEGIN SOLUTION
da = "all right"
### END SOLUTION
print(da)

# %%
# check: ex1-toy
check("da")
"""


@pytest.fixture
def toy_course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a course of one notebook; it is the current one."""
    files = {
        "pyproject.toml": '[project.urls]\nRepository = "https://github.com/a/b"\n',
        "grader/hints/ex1.toml": '[da]\nhints = ["one", "two", "three"]\n',
        "notebooks/source/01_toy.py": SOURCE,
        "names.txt": "ann\nbob\ncleo\n",
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MAKEMORE_NAMES", "names.txt")
    monkeypatch.setattr(course, "load_names", lambda: ["ann"] * course.LECTURE_NAMES)
    return tmp_path


def complaints() -> str:
    return "\n".join(course.verify())


def edit(path: str, find: str, replace: str) -> None:
    text = Path(path).read_text(encoding="utf-8")
    assert find in text
    Path(path).write_text(text.replace(find, replace), encoding="utf-8")


def test_build_makes_what_verify_expects(toy_course: Path) -> None:
    course.build()
    assert complaints() == ""

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
    course.build()
    assert (blank.read_bytes(), solution.read_bytes()) == before

    course.mark(toy_course / "marked")
    marked = nbformat.read(toy_course / "marked/01_toy.ipynb", 4)
    assert [cell.metadata.get("tags") for cell in marked.cells] == [
        None,
        ["data-dependent", "nbval-ignore-output"],
        None,
        None,
        None,
    ]

    # What a maintainer might forget, one thing after the other.
    edit("notebooks/source/01_toy.py", "all right", "all wrong")
    messages = complaints()
    assert "notebooks/solutions/01_toy.ipynb is out of date: the source of its cell 4" in messages
    assert "# answer: ex1-toy" in messages
    assert "notebooks/01_toy.ipynb" not in messages, "the student's copy does not change with it"
    edit("notebooks/source/01_toy.py", "all wrong", "all right")

    edit("pyproject.toml", "github.com/a/b", "github.com/c/d")
    assert "notebooks/01_toy.ipynb is out of date: the source of its cell 1" in (complaints())
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

    blank.write_bytes(before[1])
    assert "01_toy.ipynb has been run: the student's copy has no outputs" in (complaints())
    blank.unlink()
    assert "notebooks/01_toy.ipynb is missing" in complaints()


@pytest.mark.parametrize(
    ("find", "replace", "sentence"),
    [
        ("print(da)", "1 / 0", "A cell of the solution raises"),
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
        course.build()
    assert not list(Path("notebooks").glob("**/*.ipynb"))


@pytest.mark.usefixtures("toy_course")
def test_a_shared_cell_is_put_in_and_followed(toy_course: Path) -> None:
    Path("notebooks/source/cells").mkdir()
    Path("notebooks/source/cells/setup.py").write_text("ready = True\n", encoding="utf-8")
    edit("notebooks/source/01_toy.py", "import os\n", "# {{ cell: setup }}\nimport os\n")
    course.build()
    notebook = nbformat.read("notebooks/01_toy.ipynb", 4)
    assert "ready = True\nimport os" in [c.source for c in notebook.cells][1]
    edit("notebooks/source/cells/setup.py", "True", "False")
    assert "01_toy" in complaints()
    edit("notebooks/source/01_toy.py", "cell: setup", "cell: missing")
    with pytest.raises(SourceError, match=r"asks for .*missing\.py, which is not there"):
        course.verify()


def test_solutions_are_run_on_the_lectures_names_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(course, "load_names", lambda: ["ann"])
    with pytest.raises(SourceError, match=r"run on the lecture's 32,033 names. Set MAKEMORE_NAMES"):
        course.build()


@pytest.mark.usefixtures("toy_course")
def test_an_unknown_notebook_is_named() -> None:
    with pytest.raises(SourceError, match=r"no notebook 02_toy; there are 01_toy\."):
        course.build(["02_toy"])


@pytest.mark.parametrize("text", ["[da", "[da]\nhint = 1\n", "da = 1\n"])
def test_hints_that_cannot_be_read(text: str, tmp_path: Path) -> None:
    (tmp_path / "ex1.toml").write_text(text, encoding="utf-8")
    with pytest.raises(SourceError, match=r"ex1\.toml cannot be read \(.*each with `hints = "):
        course.load_hints(tmp_path)


@pytest.mark.usefixtures("toy_course")
def test_fill_writes_a_submission_for_each_file() -> None:
    toy = course.read_notebook(Path("notebooks/source/01_toy.py"))
    blank, answers, out = Path("blank.ipynb"), Path("ann.py"), Path("out")
    nbformat.write(make_blank(toy), blank)
    answers.write_text("# answer: ex1-toy\nda = 'hm'\n", encoding="utf-8")
    course.fill_in(blank, [answers], out)
    assert "da = 'hm'" in (out / "ann.ipynb").read_text(encoding="utf-8")
    answers.write_text("# answer: ex7-toy\n", encoding="utf-8")
    with pytest.raises(SourceError, match=r"ann\.py: there is no answer cell ex7-toy"):
        course.fill_in(blank, [answers], out)


def run_command(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "grader.course", *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(Path(course.__file__).parents[1])},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_committed_notebooks_are_up_to_date(project: Path) -> None:
    finished = run_command("verify", folder=project)
    assert finished.returncode == 0, finished.stderr


def test_errors_of_the_command_are_sentences(tmp_path: Path) -> None:
    finished = run_command("verify", folder=tmp_path)
    assert finished.returncode == 1
    assert finished.stderr == (
        "There is no notebooks/source/*.py here: run this from the project's folder.\n"
    )
