"""What is said of the common mistakes of notebook 1, word by word."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass

import pytest

from grader.verdict import Outcome
from tests.grader.conftest import Judge
from tests.helpers.exercise_text import ANSWERS, right_answers

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
    for row in tomllib.loads((ANSWERS / "diagnoses.toml").read_text(encoding="utf-8"))["diagnosis"]
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


@pytest.mark.parametrize(
    ("line", "instead"),
    [
        ("db1 = dhprebn.sum(0)", "db1 = torch.randn(n_hidden)"),
        ("dh = dlogits @ W2.T", "dh = dlogits @ W2.T + 1"),
        ("dbnraw = bngain * dhpreact", "dbnraw = bngain * dhpreact**2 + dhpreact"),
    ],
)
def test_nothing_is_said_where_no_mistake_fits(line: str, instead: str, judge_text: Judge) -> None:
    gradient = line.partition(" ")[0]
    verdict = judge_text(LECTURE.replace(f"{line}\n", f"{instead}\n"))[gradient]
    assert verdict.outcome is Outcome.FAIL
    assert verdict.diagnosis == ()
    assert verdict.note


def test_a_right_answer_gets_no_diagnosis(judge_text: Judge) -> None:
    assert not [verdict for verdict in judge_text(LECTURE).values() if verdict.diagnosis]
