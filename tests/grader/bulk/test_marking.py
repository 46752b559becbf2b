from __future__ import annotations

from dataclasses import replace
from pathlib import Path, PurePath
from typing import Any

import pytest

from grader.bulk import marking
from grader.bulk.failures import CannotGrade
from grader.bulk.line import WHOSE, Line, pack_line
from grader.bulk.marking import Post, Watched, mark
from grader.bulk.settings import Settings, Versions, installed_versions
from grader.bulk.task import Task
from grader.grading import grade as grade_notebook
from grader.runner import Reply, Runner, WorkerLost
from grader.verdict import FORMAT_VERSION, Flag, Outcome, Report
from grader.worker.request import Request, Values

NOTEBOOKS = Path(__file__).resolve().parents[3] / "notebooks"
BLANK = NOTEBOOKS / "02_fused_cross_entropy.ipynb"
SOLUTION = NOTEBOOKS / "solutions" / BLANK.name

SETTINGS = Settings(21, 3.0, 40.0, 2**31, "none", installed_versions())


@pytest.fixture
def warm(runner: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    """The session's worker, as if it had been started for these settings."""
    monkeypatch.setattr(
        marking._here, "post", Post(SETTINGS, Unlucky(runner, set())), raising=False
    )


@pytest.fixture
def no_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(marking._here, "post", None, raising=False)


def make_task(data: bytes) -> Task:
    return Task("id", "ada", "ada/a.ipynb", "00", True, "2026-11-20", 2, data)


def grade(data: bytes, settings: Settings = SETTINGS) -> Line:
    line = mark(make_task(data), settings, PurePath("ada/a.ipynb"))
    assert pack_line(line).isascii()
    assert line["format"] == FORMAT_VERSION
    assert list(line)[: len(WHOSE)] == list(WHOSE)
    assert [line[key] for key in WHOSE] == [
        *("id", "ada", "ada/a.ipynb", "00", True, "2026-11-20", 2)
    ]
    return line


@pytest.mark.usefixtures("warm")
def test_a_right_notebook() -> None:
    line = grade(SOLUTION.read_bytes())
    assert (line["score"], line["max_score"], line["flags"]) == (2, 2, [])
    assert [item["name"] for item in line["gradients"]] == ["dlogits", "dz"]
    assert all(item["code"].startswith(item["name"]) for item in line["gradients"])
    assert line["run"]["seed"] == 21
    assert line["run"]["versions"]["torch"] == installed_versions().torch


@pytest.mark.usefixtures("warm")
def test_a_blank_notebook() -> None:
    assert grade(BLANK.read_bytes())["score"] == 0


@pytest.mark.usefixtures("warm")
@pytest.mark.parametrize(
    ("data", "says"),
    [(b"", "is empty"), (b"PK\x03\x04...", "is a zip archive"), (b"{", "breaks off at its end")],
)
def test_what_is_no_notebook(data: bytes, says: str) -> None:
    line = grade(data)
    assert says in line["error"]
    assert line["error"].startswith("ada/a.ipynb")
    assert [flag["kind"] for flag in line["flags"]] == ["unreadable"]


@pytest.mark.usefixtures("warm")
@pytest.mark.parametrize(
    "error", [ValueError("the judge tripped"), RecursionError(), MemoryError()]
)
def test_the_graders_own_mistakes_cost_one_line(
    error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    def trip(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(marking, "grade", trip)
    line = grade(SOLUTION.read_bytes())
    assert type(error).__name__ in line["error"]
    assert [flag["kind"] for flag in line["flags"]] == ["grader-failed"]


@pytest.mark.usefixtures("no_worker")
@pytest.mark.parametrize(
    "versions",
    [
        Versions("9.9", *(installed_versions().python, installed_versions().torch)),
        replace(installed_versions(), torch="0.1"),
        replace(installed_versions(), python="2.7.18"),
    ],
)
def test_other_versions_grade_nothing(versions: Versions) -> None:
    with pytest.raises(CannotGrade, match="Install the same versions on both"):
        grade(SOLUTION.read_bytes(), replace(SETTINGS, versions=versions))


class Unlucky(Watched):
    """Loses its worker now and then: `losses` says at which requests."""

    def __init__(self, runner: Runner, losses: set[int]) -> None:
        self.limits, self._real, self._losses, self._asked = runner.limits, runner, losses, 0

    def close(self) -> None:
        pass

    def run(self, request: Request, values: Values) -> Reply:
        self._asked += 1
        if self._asked in self._losses:
            self.lost = True
            raise WorkerLost("The process that runs answers ended.")
        return self._real.run(request, values)


def test_a_worker_that_somebody_killed_costs_no_points(
    runner: Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    unlucky = Unlucky(runner, {1})
    monkeypatch.setattr(marking._here, "post", Post(SETTINGS, unlucky), raising=False)
    assert grade(SOLUTION.read_bytes())["score"] == 2
    assert not unlucky.lost


@pytest.mark.parametrize(("deaths", "score"), [(1, 2), (2, 1)])
def test_an_answer_whose_process_somebody_killed_is_run_again(
    deaths: int, score: int, runner: Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[Any] = []

    def killed_at_first(*arguments: Any, **more: Any) -> Report:
        calls.append(arguments)
        report = grade_notebook(*arguments, **more)
        if len(calls) > deaths:
            return report
        spoilt = replace(report.verdicts[0], outcome=Outcome.ERROR)
        flag = Flag("ended-process", "It ended its process.", None)
        return Report(report.notebook, (spoilt, *report.verdicts[1:]), (flag,))

    post = Post(SETTINGS, Unlucky(runner, set()))
    monkeypatch.setattr(marking._here, "post", post, raising=False)
    monkeypatch.setattr(marking, "grade", killed_at_first)
    assert grade(SOLUTION.read_bytes())["score"] == score
    assert len(calls) == 2


@pytest.mark.parametrize("first", [True, False])
def test_a_worker_that_does_not_work_grades_nothing(
    first: bool, runner: Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    unlucky = Unlucky(runner, set(range(1, 100)))
    post = None if first else Post(SETTINGS, unlucky)
    monkeypatch.setattr(marking, "Watched", lambda *_: unlucky)
    monkeypatch.setattr(marking._here, "post", post, raising=False)
    with pytest.raises(CannotGrade, match="does not run a right answer as it should"):
        grade(SOLUTION.read_bytes())
    assert marking._here.post is None
