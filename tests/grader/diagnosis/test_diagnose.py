"""What is said of the common mistakes of notebook 1, word by word."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from corpus.readers.exercise_text import right_answers
from corpus.readers.places import MISTAKES
from grader.execution.runner import Runner, WorkerLost
from grader.reports import wording
from grader.verdict import Outcome, Verdict
from grader.worker.frames import Reply
from grader.worker.job import Job, Values
from tests.grader.conftest import Judge
from tests.grader.diagnosis.conftest import Say

LECTURE = right_answers()["lecture"]


@dataclass(frozen=True, slots=True)
class Expected:
    """A line of the lecture's answer, what stands in its place, and what has to be said first."""

    line: str
    instead: str
    gradient: str
    kind: str
    message: str


TABLE = [
    Expected(**row)
    for row in tomllib.loads((MISTAKES / "diagnoses.toml").read_text(encoding="utf-8"))["diagnosis"]
]


def with_mistake(expected: Expected) -> str:
    (line,) = [text for text in LECTURE.splitlines() if text.strip() == expected.line]
    indented = line.replace(expected.line, expected.instead)
    return LECTURE.replace(f"{line}\n", f"{indented}\n")


@pytest.mark.parametrize("expected", TABLE, ids=lambda e: f"{e.gradient}-{e.kind}")
def test_a_mistake_is_named(expected: Expected, judge_text: Judge) -> None:
    verdicts = judge_text(with_mistake(expected))
    blamed = {v.name for v in verdicts.values() if v.outcome in (Outcome.FAIL, Outcome.ERROR)}
    assert blamed == {expected.gradient}
    said = verdicts[expected.gradient].diagnosis[0]
    assert (said.kind, said.message) == (expected.kind, expected.message)
    assert said.hint


def test_the_same_line_is_blamed_where_this_answer_has_it(judge_text: Judge) -> None:
    wrong = LECTURE.replace("dh = dlogits @ W2.T", "dh = dlogits @ W2")
    pieces = {}
    for text in (wrong, wrong.replace("dh = dlogits", "unused = 1\nunused = 2\ndh = dlogits")):
        verdict = judge_text(text)["dh"]
        assert verdict.place is not None
        assert verdict.piece is not None
        pieces[verdict.place.line] = verdict.code[slice(*verdict.piece)]
    assert [*pieces.values()] == ["dlogits @ W2"] * 2
    first, second = pieces
    assert second == first + 2


@pytest.mark.parametrize(
    ("line", "instead"),
    [
        ("db1 = dhprebn.sum(0)", "db1 = dhprebn.sin().sum(0) + 0.3 * dhprebn.cos().sum(0)"),
        ("dh = dlogits @ W2.T", "dh = dlogits.cumsum(1) @ W2.T * h"),
        ("dbnraw = bngain * dhpreact", "dbnraw = bngain * dhpreact**3 + dhpreact.cos()"),
    ],
)
def test_nothing_is_said_where_no_mistake_fits(line: str, instead: str, judge_text: Judge) -> None:
    gradient = line.partition(" ")[0]
    verdict = judge_text(LECTURE.replace(f"{line}\n", f"{instead}\n"))[gradient]
    assert verdict.outcome is Outcome.FAIL
    assert verdict.diagnosis == ()
    assert wording.note(verdict)


def test_a_right_answer_gets_no_diagnosis(judge_text: Judge) -> None:
    assert not [verdict for verdict in judge_text(LECTURE).values() if verdict.diagnosis]


def test_equal_statements_get_the_same_reason_wherever_they_stand(say_of: Say) -> None:
    source = "dhpreact = (1 - hpreact**2) * dh * 1.0"
    said = [say_of("dhpreact", before + source) for before in ("", "a = 1\n\n", "")]
    assert said == [["This slope is taken at the wrong tensor: `hpreact`."]] * 3


@pytest.mark.parametrize(
    ("gradient", "source"),
    [
        # What it reads has been changed before.
        ("dW2", "dhpreact = (1 - h.pow_(2)) * dh\ndW2 = h.T @ dlogits"),
        # Nowhere is it right, so it is not a size of the notebook's.
        ("dh", "if dlogits.ndim == 3:\n    dh = dlogits @ W2.T"),
    ],
)
def test_no_mistake_is_named_that_the_line_does_not_have(
    gradient: str, source: str, verdict_of: Callable[[str, str], Verdict]
) -> None:
    said = [one.message for one in verdict_of(gradient, source).diagnosis]
    assert not [one for one in said if ".T" in one or "notebook's sizes" in one]


def test_a_worker_that_was_lost_is_not_remembered(
    say_of: Say, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, source = Runner.run, "dhpreact = (1 - hpreact**2) * dh / 1.0"

    def lose_variants(self: Runner, request: Job, values: Values) -> Reply:
        if "beside0" in request.extra:
            raise WorkerLost("The process ended.")
        return run(self, request, values)

    with monkeypatch.context() as patched:
        patched.setattr(Runner, "run", lose_variants)
        assert say_of("dhpreact", source) == []
    assert say_of("dhpreact", source) == ["This slope is taken at the wrong tensor: `hpreact`."]


def test_what_stands_before_on_the_line_makes_no_difference(say_of: Say) -> None:
    line = "dhpreact = (1 - hpreact**2) * dh * 1"
    said = [say_of("dhpreact", f"{name} = 1; {line}") for name in ("ö", "o")]
    assert said == [["This slope is taken at the wrong tensor: `hpreact`."]] * 2
