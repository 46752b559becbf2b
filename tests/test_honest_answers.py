"""Honest answers keep their points, and nearly none is flagged."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from grader.execution.runner import Runner
from grader.grading.grade import grade_exercise
from grader.verdict import EARNS_POINTS, Flag, Outcome
from grader.worker.terms import Limits
from tests.helpers.honest_answers import HonestAnswer, honest_answers, styles

MOST_FALSE_FLAGS = 0.02
"""The part of the answers that may be flagged without need."""


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    with Runner(Limits(statement_seconds=10.0, total_seconds=60.0)) as runner:
        yield runner


def _lost(answer: HonestAnswer, runner: Runner) -> tuple[list[str], list[Flag]]:
    """The gradients that did not get what is due to them, with why; and all flags."""
    verdicts, flags = grade_exercise(answer.exercise, answer.cells, runner, wary=True)
    lost = []
    for verdict in verdicts:
        due = answer.outcomes.get(verdict.name, "odd" if answer.outcomes else "pass")
        if due == "odd" and verdict.name not in answer.outcomes:
            right = verdict.outcome in EARNS_POINTS
        else:
            right = due in ("odd", verdict.outcome)
        if not right:
            lost.append(f"{verdict.name} {verdict.outcome}: {verdict.note}")
    return lost, flags


@pytest.mark.parametrize("style", styles())
def test_no_honest_answer_loses_a_point(style: str, runner: Runner) -> None:
    lost, flagged = {}, {}
    for answer in honest_answers(style):
        here, flags = _lost(answer, runner)
        if here:
            lost[answer.title] = here
        if needless := [flag for flag in flags if flag.kind not in answer.flags]:
            flagged[answer.title] = needless
    assert not lost
    assert not flagged
