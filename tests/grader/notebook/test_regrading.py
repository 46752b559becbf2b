from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import cast

import pytest

from corpus.readers.lecture_course import NOTEBOOKS
from grader.answer.parse import AnswerCell, cells_of
from grader.execution.runner import Runner
from grader.notebook import running_notebook as module
from grader.notebook.running_notebook import Regrader
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


def grade(regrader: Regrader, cells: Sequence[AnswerCell]) -> tuple[list[Verdict], list[Flag]]:
    judged = [
        regrader.grade_exercise(each, cells_of(each.prefix, cells)) for each in NOTEBOOKS[SECOND]
    ]
    return [one for some, _ in judged for one in some], [one for _, some in judged for one in some]


def test_only_what_changed_is_graded_again(graded: Graded) -> None:
    regrader = Regrader(cast(Runner, None))
    first = cells(("ex2-dlogits", "pass"), ("ex2s-smoothing", "fail"))
    verdicts, flags = grade(regrader, first)
    assert [prefix for prefix, _ in graded] == ["ex2", "ex2s"]
    assert [(v.name, v.outcome) for v in verdicts] == [("dlogits", "pass"), ("dz", "fail")]
    assert [flag.message for flag in flags] == ["ex2", "ex2s"]

    assert grade(regrader, list(first)) == (verdicts, flags)
    assert len(graded) == 2, "nothing changed"

    second = cells(("ex2-dlogits", "pass"), ("ex2s-smoothing", "pass"))
    verdicts, flags = grade(regrader, second)
    assert graded[2:] == [("ex2s", second[1:])]
    assert [v.outcome for v in verdicts] == ["pass", "pass"]
    assert [flag.message for flag in flags] == ["ex2", "ex2s"]


def test_the_order_of_the_cells_is_a_change(graded: Graded) -> None:
    regrader = Regrader(cast(Runner, None))
    both = cells(("ex2-a", "pass"), ("ex2-b", "fail"))
    assert grade(regrader, both)[0][0].outcome == "pass"
    assert grade(regrader, both[::-1])[0][0].outcome == "fail"


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
    grade(regrader, broken)
    grade(regrader, broken)
    assert [prefix for prefix, _ in graded] == ["ex2", "ex2s", "ex2"]
