"""What a check cell prints."""

import pytest
import torch

from grader.answer import AnswerCell
from grader.check_text import STALE, Row, describe
from grader.compare import compare
from grader.verdict import Check, Outcome, Place, Verdict

REFERENCE = torch.tensor([1.0, 2.0])
CELL = AnswerCell("ex1-linear2", "# answer: ex1-linear2\ndh = dlogits @ W2")


def row(outcome: Outcome, value: object = REFERENCE, note: str = "", name: str = "dh") -> Row:
    comparison = compare(name, value, REFERENCE)
    place = Place("ex1-linear2", 2)
    verdict = Verdict(name, outcome, comparison, Check.RIGHT, Check.RIGHT, note, place)
    return Row(verdict, comparison)


NUMBERS = "dh              | exact: True  | approximate: True  | maxdiff: 0.0"


@pytest.mark.parametrize(
    ("given", "text"),
    [
        (row(Outcome.PASS), f"{NUMBERS} | pass"),
        (row(Outcome.PASS, note="By the way."), f"{NUMBERS} | pass\n  By the way."),
        (row(Outcome.TODO, ...), "dh              | to do"),
        (
            row(Outcome.FAIL, note="Why."),
            f"{NUMBERS} | fail\n  ex1-linear2, line 2: dh = dlogits @ W2\n  Why.",
        ),
        (row(Outcome.CARRIED, note="See above."), f"{NUMBERS} | carried\n  See above."),
        # The value is an earlier run's: its numbers would contradict the error.
        (
            row(Outcome.ERROR, note="Raised."),
            "dh              | error\n  ex1-linear2, line 2: dh = dlogits @ W2\n  Raised.",
        ),
        (
            row(Outcome.PASS, 2 * REFERENCE),
            f"dh              | exact: False | approximate: False | maxdiff: 2.0 | pass\n  {STALE}",
        ),
    ],
)
def test_one_gradient(given: Row, text: str) -> None:
    assert describe([given], [CELL]) == text


def test_a_value_without_an_answer_cell_is_said_to_be_so() -> None:
    text = describe([row(Outcome.TODO)], [CELL])
    assert text.startswith(f"{NUMBERS} | to do\n  dh has a value, but no answer cell you ran")


def test_what_is_said_of_several_is_said_once() -> None:
    rows = [row(Outcome.CARRIED, note="See dlogits.", name=name) for name in ("dh", "dW2", "db2")]
    lines = describe(rows, [CELL]).splitlines()
    assert [line.split(" ")[0] for line in lines[:3]] == ["dh", "dW2", "db2"]
    assert lines[3:] == ["dh, dW2, db2:", "  See dlogits."]


def test_a_place_that_the_cell_does_not_have_shows_no_code() -> None:
    lines = describe([row(Outcome.FAIL, note="Why.")], []).splitlines()
    assert lines[1] == "  ex1-linear2, line 2: "
