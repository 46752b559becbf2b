"""Honest answers keep their points, and nearly none is flagged."""

from __future__ import annotations

import pytest

from corpus.readers.honest import HonestAnswer, honest_answers, styles
from grader.execution.runner import Runner
from grader.grading.grade import grade_exercise
from grader.verdict import EARNS_POINTS, Outcome, Verdict

MOST_NEEDLESS_FLAGS = 0.02
"""The part of the answers that may be flagged without need."""


def is_due(answer: HonestAnswer, verdict: Verdict) -> bool:
    """True for the outcome that a gradient of this answer is to have."""
    due = answer.outcomes.get(verdict.name)
    if due is not None:
        return due in ("odd", verdict.outcome)
    # What reads an odd value is right by itself.
    return verdict.outcome in (EARNS_POINTS if answer.outcomes else {Outcome.PASS})


@pytest.mark.slow
@pytest.mark.parametrize("style", styles())
def test_no_honest_answer_loses_a_point_or_gets_another_flag(
    style: str, warm_runner: Runner
) -> None:
    for answer in honest_answers(style):
        verdicts, flags = grade_exercise(answer.exercise, answer.cells, warm_runner, wary=True)
        lost = [(v.name, v.outcome, v.note) for v in verdicts if not is_due(answer, v)]
        assert not lost, answer.title
        kinds = {flag.kind for flag in flags}
        assert kinds == answer.flags | answer.needless, (answer.title, flags)


def test_there_are_many_answers_and_few_needless_flags() -> None:
    answers = [answer for style in styles() for answer in honest_answers(style)]
    assert len({answer.title for answer in answers}) == len(answers) >= 300
    assert sum(bool(a.needless) for a in answers) < MOST_NEEDLESS_FLAGS * len(answers)
    assert sum(bool(a.flags) for a in answers) < len(answers) / 6
