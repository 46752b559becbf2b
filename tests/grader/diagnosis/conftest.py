"""What is said of a gradient's own statements."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from corpus.readers.lecture_course import ATOMIC
from grader.answer.parse import AnswerCell
from grader.execution.runner import Runner
from grader.grading.grade import grade_exercise
from grader.verdict import Outcome, Verdict

Say = Callable[[str, str], list[str]]
"""The messages about a gradient of notebook 1 whose statements are a cell of their own."""


@pytest.fixture
def verdict_of(runner: Runner) -> Callable[[str, str], Verdict]:
    def judge(gradient: str, source: str) -> Verdict:
        verdicts, _ = grade_exercise(ATOMIC, [AnswerCell("ex1-cell", source)], runner)
        (verdict,) = [one for one in verdicts if one.name == gradient]
        return verdict

    return judge


@pytest.fixture
def say_of(verdict_of: Callable[[str, str], Verdict]) -> Say:
    def say(gradient: str, source: str) -> list[str]:
        verdict = verdict_of(gradient, source)
        assert verdict.outcome is Outcome.FAIL
        return [said.message for said in verdict.diagnosis]

    return say
