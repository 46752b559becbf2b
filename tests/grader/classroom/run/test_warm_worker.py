from __future__ import annotations

import pickle
from dataclasses import replace
from typing import Any

import pytest

from corpus.readers.lecture_course import COURSE
from corpus.readers.places import NOTEBOOKS
from grader.classroom.intake.class_folder import HandedIn
from grader.classroom.run import warm_worker
from grader.classroom.run.grade_task import get_ready, grade_task
from grader.classroom.run.line import Line, file_text, grading_text, read_line
from grader.classroom.run.pool import CannotGrade
from grader.classroom.run.settings import Settings, Versions, installed_versions
from grader.classroom.run.warm_worker import WarmWorker
from grader.execution.runner import Runner, WorkerLost
from grader.grading.grade import grade as grade_notebook
from grader.verdict import Flag, Outcome, Report
from grader.worker.frames import Reply
from grader.worker.job import Job, Values
from grader.worker.terms import Limits
from tests.helpers.course_notebooks import solved, unmarked

BLANK = NOTEBOOKS / "02_fused_cross_entropy.ipynb"
SOLUTION = solved(BLANK.stem)

FILE = HandedIn("id", "ada", "ada/a.ipynb", "00", True, "2026-11-20", 2)
SETTINGS = Settings(21, Limits(3.0, 40.0, 2**31), "none", installed_versions(), COURSE)


class Unlucky(Runner):
    """The session's worker, which is lost at each of the requests `losses` from now on."""

    def __init__(self, runner: Runner) -> None:
        self.limits, self.lost, self._real = runner.limits, False, runner
        self.losses: set[int] = set()
        self._asked = 0

    def close(self) -> None:
        pass

    def lose(self, *requests: int) -> None:
        self.losses, self._asked = set(requests), 0

    def run(self, request: Job, values: Values) -> Reply:
        self._asked += 1
        if self._asked in self.losses:
            self.lost = True
            raise WorkerLost("The process that runs answers ended.")
        return self._real.run(request, values)

    def end_answer(self) -> None:
        self._real.end_answer()


@pytest.fixture
def unlucky(runner: Runner) -> Unlucky:
    return Unlucky(runner)


@pytest.fixture
def worker(unlucky: Unlucky) -> WarmWorker:
    return WarmWorker(SETTINGS, unlucky)


def grade(worker: WarmWorker, data: bytes) -> Line:
    line = worker.grade(replace(FILE, data=data))
    file, found = file_text(line.file), grading_text(line)
    assert (file + found).isascii()
    again = read_line(f"{file[:-1]},{found[1:]}")
    assert (file_text(again.file), grading_text(again)) == (file, found)
    assert pickle.loads(pickle.dumps(line)).file == line.file == FILE
    return line


def score(line: Line) -> int:
    assert line.report is not None
    return line.report.score


def error(line: Line) -> str:
    assert line.error is not None
    return line.error


def test_a_right_notebook(worker: WarmWorker) -> None:
    line = grade(worker, SOLUTION)
    assert line.report is not None
    assert (line.report.score, line.report.max_score, line.flags) == (2, 2, ())
    assert [verdict.name for verdict in line.report.verdicts] == ["dlogits", "dz"]
    assert all(verdict.code.startswith(verdict.name) for verdict in line.report.verdicts)
    assert line.run.seed == 21
    assert line.run.versions == installed_versions()


def test_a_blank_notebook(worker: WarmWorker) -> None:
    assert score(grade(worker, BLANK.read_bytes())) == 0


@pytest.mark.parametrize(
    ("data", "says"),
    [(b"", "is empty"), (b"PK\x03\x04...", "is a zip archive"), (b"{", "breaks off at its end")],
)
def test_what_is_no_notebook(data: bytes, says: str, worker: WarmWorker) -> None:
    line = grade(worker, data)
    assert says in error(line)
    assert error(line).startswith("ada/a.ipynb")
    assert [flag.kind for flag in line.flags] == ["unreadable"]


@pytest.mark.parametrize("mistake", [ValueError("the judge tripped"), RecursionError()])
def test_the_graders_own_mistakes_cost_one_line(
    mistake: Exception, worker: WarmWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    def trip(*_: object, **__: object) -> None:
        raise mistake

    monkeypatch.setattr(warm_worker, "grade", trip)
    line = grade(worker, SOLUTION)
    assert type(mistake).__name__ in error(line)
    assert [flag.kind for flag in line.flags] == ["grader-failed"]


@pytest.mark.parametrize("stage", ["submission_in", "grade"])
@pytest.mark.parametrize("mistake", [MemoryError(), RuntimeError("can't allocate memory: no")])
def test_memory_that_is_too_small_is_no_mistake(
    stage: str, mistake: Exception, worker: WarmWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    def trip(*_: object, **__: object) -> None:
        raise mistake

    monkeypatch.setattr(warm_worker, stage, trip)
    line = grade(worker, SOLUTION)
    assert error(line) == (
        "ada/a.ipynb could not be graded: it needs more memory than its judge may use."
    )
    assert [flag.kind for flag in line.flags] == ["memory-limit"]


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
        WarmWorker(replace(SETTINGS, versions=versions))


def test_a_worker_that_somebody_killed_costs_no_points(
    worker: WarmWorker, unlucky: Unlucky
) -> None:
    unlucky.lose(1)
    assert score(grade(worker, SOLUTION)) == 2
    assert not unlucky.lost


@pytest.mark.parametrize(("deaths", "points"), [(1, 2), (2, 1)])
def test_an_answer_whose_process_somebody_killed_is_run_again(
    deaths: int, points: int, worker: WarmWorker, monkeypatch: pytest.MonkeyPatch
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

    monkeypatch.setattr(warm_worker, "grade", killed_at_first)
    assert score(grade(worker, SOLUTION)) == points
    assert len(calls) == 2


def test_a_worker_that_does_not_work_grades_nothing(worker: WarmWorker, unlucky: Unlucky) -> None:
    unlucky.lose(*range(1, 100))
    with pytest.raises(CannotGrade, match="does not run a right answer as it should"):
        grade(worker, SOLUTION)
    assert worker.closed
    with pytest.raises(CannotGrade, match="does not run a right answer as it should"):
        WarmWorker(SETTINGS, unlucky)


def test_a_worker_stays_until_it_is_closed_or_settings_change(
    unlucky: Unlucky, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(warm_worker, "Runner", lambda *_: unlucky)
    monkeypatch.setattr("gc.freeze", lambda: None)
    monkeypatch.setattr("gc.set_threshold", lambda *_: None)
    first = get_ready(SETTINGS)
    assert get_ready(SETTINGS) is first
    second = get_ready(replace(SETTINGS, seed=22))
    assert first.closed
    second.close()
    assert score(grade_task(replace(FILE, data=SOLUTION), SETTINGS)) == 2
    get_ready(SETTINGS).close()


def test_the_courses_own_solution_is_nobodys(worker: WarmWorker) -> None:
    marked = (NOTEBOOKS / "solutions" / BLANK.name).read_bytes()
    assert "is the course's own solution" in (grade(worker, marked).error or "")
    flags = grade(worker, unmarked(BLANK.stem)).flags
    assert [flag.kind for flag in flags] == ["shipped-solution"]
