"""A warm worker for the tests that run answers, a small course for those that build one."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from corpus.readers.lecture_course import ATOMIC
from grader.authoring import build
from grader.execution.runner import Runner
from grader.grading.grade import grade_exercise
from grader.verdict import Verdict
from grader.worker.terms import Limits
from tests.helpers.toy_course import SOURCE
from tests.helpers.verdicts import answer_cells

Judge = Callable[[str], dict[str, Verdict]]


@pytest.fixture(scope="session")
def runner() -> Iterator[Runner]:
    """One worker for all tests of a process, with a time limit that tests can wait for."""
    with Runner(Limits(statement_seconds=3.0, total_seconds=40.0)) as warm:
        yield warm


@pytest.fixture(scope="session")
def judge_text(runner: Runner) -> Judge:
    """A text of answer cells to the verdicts of notebook 1, by gradient."""

    def judge(source: str) -> dict[str, Verdict]:
        verdicts, _ = grade_exercise(ATOMIC, answer_cells(source), runner)
        return {verdict.name: verdict for verdict in verdicts}

    return judge


@pytest.fixture
def toy_course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a course of one notebook; it is the current one."""
    files = {
        "pyproject.toml": '[project.urls]\nRepository = "https://github.com/a/b"\n',
        "makemore_data/course/hints.toml": '[ex1]\nda = ["one", "two", "three"]\n',
        "notebooks/source/01_toy.py": SOURCE,
        "names.txt": "ann\nbob\ncleo\n",
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MAKEMORE_NAMES", "names.txt")
    monkeypatch.setattr(build, "load_names", lambda: ["ann"] * build.LECTURE_NAMES)
    return tmp_path
