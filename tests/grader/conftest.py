"""A warm worker for the tests that run answers."""

from collections.abc import Callable, Iterator

import pytest

from grader.answer import AnswerCell
from grader.exercises import ATOMIC
from grader.grading import grade_exercise
from grader.runner import Limits, Runner
from grader.verdict import Verdict
from tests.exercise_text import read_cells

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
        cells = [AnswerCell(grade_id, text) for grade_id, text in read_cells(source)]
        verdicts, _ = grade_exercise(ATOMIC, cells, runner)
        return {verdict.name: verdict for verdict in verdicts}

    return judge
