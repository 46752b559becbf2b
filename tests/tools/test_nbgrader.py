"""nbgrader and `grader grade` give the same points to the same class."""

import csv
import json
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from benchmarks.peers.environments import NBGRADER
from corpus.readers.places import PROJECT
from grader.authoring.blank import make_blank
from grader.authoring.course import SOURCES, read_notebook
from grader.platforms.assignments import ASSIGNMENT
from tests.tools.students import FULL, STUDENTS

pytestmark = pytest.mark.tools

Points = dict[str, dict[str, float]]
"""By student and notebook."""


@dataclass(frozen=True, slots=True)
class Course:
    """A folder in which nbgrader has done all it does for an instructor."""

    folder: Path

    def run(self, *words: str) -> str:
        """One of nbgrader's commands; what it says."""
        finished = subprocess.run(
            [NBGRADER.program("nbgrader"), *words],
            cwd=self.folder,
            env=dict(NBGRADER.variables(self.folder / ".jupyter")),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        assert finished.returncode == 0, finished.stderr
        return finished.stderr

    def notebooks(self, place: str) -> Iterator[tuple[str, dict[str, Any]]]:
        for path in sorted((self.folder / place).glob("*.ipynb")):
            yield path.stem, json.loads(path.read_text(encoding="utf-8"))

    def points(self) -> Points:
        """What nbgrader's gradebook says."""
        query = """
            select submitted_assignment.student_id, notebook.name, sum(grade.auto_score)
            from grade
            join submitted_notebook on submitted_notebook.id = grade.notebook_id
            join submitted_assignment on submitted_assignment.id = submitted_notebook.assignment_id
            join notebook on notebook.id = submitted_notebook.notebook_id
            group by submitted_notebook.id
        """
        points: Points = {}
        with closing(sqlite3.connect(self.folder / "gradebook.db")) as database:
            for student, notebook, score in database.execute(query):
                points.setdefault(student, {})[notebook] = score
        return points


def hand_in(course: Course) -> None:
    """Every student's answers, in the notebooks that nbgrader has released."""
    solved = {
        cell["id"]: "".join(cell["source"])
        for _, notebook in course.notebooks(f"source/{ASSIGNMENT}")
        for cell in notebook["cells"]
    }
    for student, answer in STUDENTS.items():
        folder = course.folder / "submitted" / student / ASSIGNMENT
        folder.mkdir(parents=True)
        for name, notebook in course.notebooks(f"release/{ASSIGNMENT}"):
            answers = [cell for cell in notebook["cells"] if is_kind(cell, "solution")]
            for number, cell in enumerate(answers):
                cell["source"] = answer(solved[cell["id"]], number)
            if student == "blank":
                # nbgrader would give full points to a check that is not run, and prints nothing.
                for cell in notebook["cells"]:
                    if is_kind(cell, "grade"):
                        cell["metadata"]["tags"] = ["skip-execution"]
            if student == "half":
                check = next(cell for cell in notebook["cells"] if is_kind(cell, "grade"))
                notebook["cells"].remove(check)
            (folder / f"{name}.ipynb").write_text(json.dumps(notebook), encoding="utf-8")


def is_kind(cell: dict[str, Any], kind: str) -> bool:
    """Whether it is a "solution" or a "grade" cell."""
    return bool(cell["metadata"].get("nbgrader", {}).get(kind))


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Course:
    """Assignment, release, submissions, grades, feedback and export."""
    NBGRADER.make_with_course()
    folder = tmp_path_factory.mktemp("nbgrader")
    write = [sys.executable, "-m", "grader", "dev", "nbgrader", "--out", str(folder)]
    subprocess.run(write, cwd=PROJECT, check=True, capture_output=True)
    course = Course(folder)
    course.run("generate_assignment", ASSIGNMENT)
    hand_in(course)
    course.run("autograde", ASSIGNMENT)
    course.run("generate_feedback", ASSIGNMENT)
    course.run("export")
    return course


@pytest.fixture(scope="module")
def own_points(course: Course, tmp_path_factory: pytest.TempPathFactory) -> Points:
    """What `grader grade` gives for the same folder."""
    out = tmp_path_factory.mktemp("gradebook") / "out"
    grade = [sys.executable, "-m", "grader", "grade", "submitted", "--out", str(out)]
    finished = subprocess.run(grade, cwd=course.folder, check=False, capture_output=True, text=True)
    assert finished.returncode in (0, 1), finished.stderr
    points: Points = {}
    for line in (out / "results.jsonl").read_text(encoding="utf-8").splitlines():
        result = json.loads(line)
        points.setdefault(result["student"], {})[result["notebook"]] = result["score"]
    return points


def test_nbgrader_gives_the_points_that_grader_grade_gives(
    course: Course, own_points: Points
) -> None:
    points = course.points()
    assert points == own_points
    assert points["full"] == FULL
    assert points["blank"] == points["wrong"] == dict.fromkeys(FULL, 0)
    for notebook, most in FULL.items():
        assert 0 < points["half"][notebook] < most
        assert 0 < points["stumbling"][notebook] <= most


def test_the_exported_table_has_their_sums(course: Course, own_points: Points) -> None:
    text = (course.folder / "grades.csv").read_text(encoding="utf-8")
    rows = {row["student_id"]: row for row in csv.DictReader(text.splitlines())}
    assert rows.keys() == STUDENTS.keys()
    for student, row in rows.items():
        assert float(row["score"]) == sum(own_points[student].values())
        assert float(row["max_score"]) == sum(FULL.values())


def test_what_is_released_is_the_blank_of_the_course(
    course: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(PROJECT)
    for name, released in course.notebooks(f"release/{ASSIGNMENT}"):
        blank = make_blank(read_notebook(SOURCES / f"{name}.py"))
        for cell, due in zip(released["cells"], blank.cells, strict=True):
            if not is_kind(cell, "grade"):
                assert "".join(cell["source"]).split() == due.source.split()


@pytest.mark.parametrize("student", ["blank", "full"])
def test_no_cell_raises_or_writes_to_stderr(course: Course, student: str) -> None:
    for name, notebook in course.notebooks(f"autograded/{student}/{ASSIGNMENT}"):
        code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
        outputs = [(cell["id"], output) for cell in code for output in cell["outputs"]]
        assert outputs
        for place, output in outputs:
            assert output["output_type"] != "error", (name, place, output)
            assert output.get("name") != "stderr", (name, place, output)


def test_what_stands_below_the_last_check_is_not_run(course: Course) -> None:
    for _, notebook in course.notebooks(f"autograded/full/{ASSIGNMENT}"):
        code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
        last = max(number for number, cell in enumerate(code) if is_kind(cell, "grade"))
        assert last + 1 < len(code)
        assert all(cell["execution_count"] for cell in code[: last + 1])
        assert not any(cell["execution_count"] for cell in code[last + 1 :])


def test_feedback_shows_the_points_and_the_verdicts(course: Course, own_points: Points) -> None:
    folder = course.folder / "feedback" / "half" / ASSIGNMENT
    for notebook, most in FULL.items():
        page = (folder / f"{notebook}.html").read_text(encoding="utf-8")
        assert f"(Score: {own_points['half'][notebook]:.1f} / {most:.1f})" in page
        assert "to do" in page
