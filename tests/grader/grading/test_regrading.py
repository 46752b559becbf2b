from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import cast

import pytest

from corpus.readers.lecture_course import NOTEBOOKS
from grader.answer.parse import AnswerCell
from grader.execution.runner import Runner
from grader.grading import grade as module
from grader.grading.grade import Regrader
from grader.program.exercises import Exercise
from grader.verdict import Check, Comparison, Flag, Outcome, Verdict

SECOND = "02_fused_cross_entropy"


@pytest.fixture
def graded(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, list[AnswerCell]]]:
    """What is graded; a cell says which verdict it gets."""
    calls = []

    def grade_exercise(
        exercise: Exercise, cells: Sequence[AnswerCell], *_: object
    ) -> tuple[list[Verdict], list[Flag]]:
        calls.append((exercise.prefix, list(cells)))
        name = exercise.gradients[0]
        outcome = Outcome(cells[0].source) if cells else Outcome.TODO
        nothing = Comparison(name, None, None, None, None, ())
        verdict = Verdict(name, outcome, nothing, Check.NOT_RUN, Check.NOT_RUN)
        return [verdict], [Flag("kind", exercise.prefix, None)]

    monkeypatch.setattr(module, "grade_exercise", grade_exercise)
    return calls


def cells(*sources: tuple[str, str]) -> list[AnswerCell]:
    return [AnswerCell(grade_id, source) for grade_id, source in sources]


Graded = list[tuple[str, list[AnswerCell]]]


def test_only_what_changed_is_graded_again(graded: Graded) -> None:
    regrader = Regrader(cast(Runner, None))
    first = cells(("ex2-dlogits", "pass"), ("ex2s-smoothing", "fail"))
    report = regrader.grade(NOTEBOOKS[SECOND], first)
    assert [prefix for prefix, _ in graded] == ["ex2", "ex2s"]
    assert [(v.name, v.outcome) for v in report.verdicts] == [("dlogits", "pass"), ("dz", "fail")]
    assert [flag.message for flag in report.flags] == ["ex2", "ex2s"]
    assert report.notebook == SECOND

    assert regrader.grade(NOTEBOOKS[SECOND], list(first)) == report
    assert len(graded) == 2, "nothing changed"

    second = cells(("ex2-dlogits", "pass"), ("ex2s-smoothing", "pass"))
    again = regrader.grade(NOTEBOOKS[SECOND], second)
    assert graded[2:] == [("ex2s", second[1:])]
    assert [v.outcome for v in again.verdicts] == ["pass", "pass"]
    assert [flag.message for flag in again.flags] == ["ex2", "ex2s"]


def test_the_order_of_the_cells_is_a_change(graded: Graded) -> None:
    regrader = Regrader(cast(Runner, None))
    both = cells(("ex2-a", "pass"), ("ex2-b", "fail"))
    assert regrader.grade(NOTEBOOKS[SECOND], both).verdicts[0].outcome == "pass"
    assert regrader.grade(NOTEBOOKS[SECOND], both[::-1]).verdicts[0].outcome == "fail"


def test_another_exercise_of_the_same_prefix_is_another(graded: Graded) -> None:
    regrader = Regrader(cast(Runner, None))
    own = cells(("ex2-dlogits", "pass"))
    (first, *_) = NOTEBOOKS[SECOND]
    for exercise in (first, copy.copy(first), first):
        regrader.grade_exercise(exercise, own)
    assert [prefix for prefix, _ in graded] == ["ex2", "ex2"]


def test_an_error_is_tried_again(graded: Graded) -> None:
    regrader = Regrader(cast(Runner, None))
    broken = cells(("ex2-dlogits", "error"))
    regrader.grade(NOTEBOOKS[SECOND], broken)
    regrader.grade(NOTEBOOKS[SECOND], broken)
    assert [prefix for prefix, _ in graded] == ["ex2", "ex2s", "ex2"]
