"""otter-grader and `grader grade` give the same points to the same class."""

import json
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbformat import NotebookNode

from benchmarks.peers.environments import OTTER
from corpus.readers.places import PROJECT
from grader.authoring.blank import make_blank, with_placeholders
from grader.authoring.course import read_notebook
from grader.authoring.source import all_checked
from tests.helpers.small_course import FORWARD, RIGHT
from tests.tools.students import FULL, STUDENTS

pytestmark = pytest.mark.tools

AT_ONCE = 2
"""Programs that run at the same time."""
Points = dict[str, dict[str, float]]
"""By student and notebook."""


@dataclass(frozen=True, slots=True)
class Course:
    """A folder in which otter has made its assignments and graded what was handed in."""

    folder: Path

    def run(self, program: str, *words: str | Path) -> str:
        """A command of otter's environment; what it says."""
        finished = subprocess.run(
            [OTTER.program(program), *map(str, words)],
            cwd=self.folder,
            env={**OTTER.variables(self.folder / ".jupyter"), "MAKEMORE_NAMES": "bundled"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        assert finished.returncode == 0, finished.stderr
        return finished.stdout + finished.stderr

    def assign(self, notebook: str) -> str:
        return self.run("otter", "assign", "-v", f"{notebook}.ipynb", f"made/{notebook}")

    def released(self, notebook: str) -> NotebookNode:
        """What otter has made for the students."""
        return read(self.folder / "made" / notebook / "student" / f"{notebook}.ipynb")

    def grade(self, submission: Path, notebook: str, out: Path) -> dict[str, Any]:
        """What `otter run` writes down for Gradescope."""
        (autograder,) = (self.folder / "made" / notebook / "autograder").glob("*.zip")
        out.mkdir(parents=True, exist_ok=True)
        self.run("otter", "run", "-a", autograder, "-o", out, submission)
        results: dict[str, Any] = json.loads((out / "results.json").read_text(encoding="utf-8"))
        return results

    def submission(self, student: str, notebook: str) -> Path:
        return self.folder / "submitted" / student / f"{notebook}.ipynb"


def read(path: Path) -> NotebookNode:
    notebook: NotebookNode = nbformat.read(path, as_version=4)
    return notebook


def total(results: dict[str, Any]) -> float:
    return sum(float(test["score"]) for test in results["tests"])


def answered(released: NotebookNode, notebook: str, student: str) -> NotebookNode:
    """A student's answers in a notebook that otter has made."""
    source = read_notebook(Path(f"notebooks/source/{notebook}.py"))
    gradients = all_checked(source.cells)
    solved = {cell["id"]: with_placeholders(cell.source, gradients) for cell in source.cells}
    answers = [cell for cell in released.cells if is_answer(cell)]
    for number, cell in enumerate(answers):
        cell.source = STUDENTS[student](solved[cell["id"]], number)
    return released


def is_answer(cell: NotebookNode) -> bool:
    return bool(cell.metadata.get("nbgrader", {}).get("solution"))


@pytest.fixture(scope="module", autouse=True)
def _in_the_project() -> Iterator[None]:
    """The course's sources are found from its folder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(PROJECT)
        yield


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Course:
    OTTER.make_with_course()
    folder = tmp_path_factory.mktemp("otter")
    write = [sys.executable, "-m", "grader", "export", "otter", "--out", str(folder)]
    subprocess.run(write, cwd=PROJECT, check=True, capture_output=True)
    return Course(folder)


@pytest.fixture(scope="module")
def said(course: Course) -> dict[str, str]:
    """What `otter assign` says, by notebook."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        return dict(zip(FULL, pool.map(course.assign, FULL), strict=True))


@pytest.fixture(scope="module")
def graded(course: Course, said: dict[str, str]) -> dict[tuple[str, str], dict[str, Any]]:
    """The results of every student's every notebook."""
    papers = [(student, notebook) for student in STUDENTS for notebook in said]
    for student, notebook in papers:
        path = course.submission(student, notebook)
        path.parent.mkdir(parents=True, exist_ok=True)
        nbformat.write(answered(course.released(notebook), notebook, student), path)

    def grade(paper: tuple[str, str]) -> dict[str, Any]:
        out = course.folder.joinpath("results", *paper)
        return course.grade(course.submission(*paper), paper[1], out)

    with ThreadPoolExecutor(AT_ONCE) as pool:
        return dict(zip(papers, pool.map(grade, papers), strict=True))


def test_otter_gives_the_points_that_grader_grade_gives(
    course: Course, graded: dict[tuple[str, str], dict[str, Any]], tmp_path: Path
) -> None:
    grade = [sys.executable, "-m", "grader", "grade", "submitted", "--out", str(tmp_path / "out")]
    subprocess.run(grade, cwd=course.folder, check=True, capture_output=True)
    lines = (tmp_path / "out" / "results.jsonl").read_text(encoding="utf-8").splitlines()
    own: Points = {}
    for result in map(json.loads, lines):
        own.setdefault(result["student"], {})[result["notebook"]] = result["score"]
    points: Points = {}
    for (student, notebook), results in graded.items():
        points.setdefault(student, {})[notebook] = total(results)
    assert points == own
    assert points["full"] == FULL
    assert points["blank"] == points["wrong"] == dict.fromkeys(FULL, 0)
    for notebook, most in FULL.items():
        assert 0 < points["half"][notebook] < most
        assert 0 < points["stumbling"][notebook] <= most


def test_otter_finds_every_point_in_the_solutions(said: dict[str, str]) -> None:
    for notebook, most in FULL.items():
        assert f"Total points: {most}\nAutograded:   {most}\n" in said[notebook]
        assert "All autograder tests passed." in said[notebook]


def test_what_otter_releases_is_the_blank_of_the_course(
    course: Course, said: dict[str, str]
) -> None:
    for notebook in said:
        blank = make_blank(read_notebook(Path(f"notebooks/source/{notebook}.py")))
        own = {cell["id"]: cell.source for cell in blank.cells}
        first, *cells = course.released(notebook).cells
        assert first.source.startswith("# Initialize Otter\n")
        assert {cell["id"]: cell.source for cell in cells[: len(own)]} == own
        assert [cell.cell_type for cell in cells[len(own) :]] == ["markdown", "code", "markdown"]
        assert "grader.export(pdf=False)" in cells[-2].source
        assert all(cell.metadata.get("editable", True) for cell in cells if is_answer(cell))


def test_a_student_reads_the_verdict_and_its_reason(
    graded: dict[tuple[str, str], dict[str, Any]],
) -> None:
    for notebook in FULL:
        for test in graded["wrong", notebook]["tests"]:
            assert test["visibility"] == "visible"
            assert test["output"].count("❌") == test["max_score"]
            assert test["output"].count(": fail (ex") == test["max_score"]
        for test in graded["blank", notebook]["tests"]:
            assert test["output"].count(": to do (ex") == test["max_score"]


def test_nothing_but_the_answers_runs(course: Course, said: dict[str, str], tmp_path: Path) -> None:
    (notebook, most) = ("02_fused_cross_entropy", 2)
    paper = answered(course.released(notebook), notebook, "full")
    ran = tmp_path / "ran"
    for code in (f"open({str(ran)!r}, 'w')", "while True: pass", "import os; os._exit(0)"):
        paper.cells.insert(1, nbformat.v4.new_code_cell(code))
    with zipfile.ZipFile(tmp_path / "handed in.zip", "w") as handed_in:
        handed_in.writestr("paper.ipynb", nbformat.writes(paper))
        for module in ("grader", "json", "otter", "secrets", "torch"):
            handed_in.writestr(f"{module}.py", f"open({str(ran)!r}, 'w')")
    assert total(course.grade(tmp_path / "handed in.zip", notebook, tmp_path / "out")) == most
    assert not ran.exists()


def test_a_student_may_run_the_tests_and_hand_in_what_is_exported(
    course: Course, said: dict[str, str], tmp_path: Path
) -> None:
    notebook = "03_fused_batchnorm"
    paper = answered(course.released(notebook), notebook, "half")
    for question in ("ex3-scale", "ex3-xhat"):
        paper.cells.append(nbformat.v4.new_code_cell(f'print(grader.check("{question}"))'))
    nbformat.write(paper, tmp_path / f"{notebook}.ipynb")
    convert = (
        "nbconvert",
        "--execute",
        "--allow-errors",
        "--to",
        "notebook",
        "--output-dir",
        tmp_path / "run",
    )
    course.run("jupyter", *convert, tmp_path / f"{notebook}.ipynb")
    right, wrong = read(tmp_path / "run" / f"{notebook}.ipynb").cells[-2:]
    assert right.outputs[0].text == "ex3-scale results: All test cases passed!\n"
    assert "NoPoint: dxhat: to do (ex3-xhat, line 2)." in wrong.outputs[0].text
    (exported,) = tmp_path.glob("*.zip")
    handed_in = course.grade(exported, notebook, tmp_path / "out")
    of_the_file = course.grade(tmp_path / f"{notebook}.ipynb", notebook, tmp_path / "out")
    assert total(handed_in) == total(of_the_file) == 4


def test_another_course_counts_its_points_itself(course: Course, tmp_path: Path) -> None:
    """Whatever forward pass the notebook handed in carries."""
    (tmp_path / "rms_norm.py").write_text(FORWARD, encoding="utf-8")
    new = ("new", "rms_norm.py", "--out", "norms")
    for words in (new, ("export", "otter", "--course", "norms", "--out", ".")):
        grader = [sys.executable, "-m", "grader", *words]
        subprocess.run(grader, cwd=tmp_path, check=True, capture_output=True)
    own, notebook = Course(tmp_path), "01_rms_norm"
    assert "All autograder tests passed." in own.assign(notebook)

    def points(answer: str) -> float:
        paper = own.released(notebook)
        carrying = next(cell for cell in paper.cells if '"forward.py"' in cell.source)
        assert "loss = (dout" in carrying.source
        carrying.source = carrying.source.replace("loss = (dout", "loss = (0 * dout")
        first = next(cell for cell in paper.cells if is_answer(cell))
        first.source = f"{first.source.partition(chr(10))[0]}\n{answer}"
        path = tmp_path / "handed in" / f"{notebook}.ipynb"
        path.parent.mkdir(exist_ok=True)
        nbformat.write(paper, path)
        return total(own.grade(path, notebook, tmp_path / "results"))

    assert points("dx = 0 * x\ndgain = 0 * gain") == 0
    assert points(RIGHT) == 3
