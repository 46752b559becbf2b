"""What a check cell prints."""

import pytest
import torch

from grader.check_text import STALE, Row, describe
from grader.compare import compare
from grader.verdict import Check, Outcome, Place, Verdict

REFERENCE = torch.tensor([1.0, 2.0])


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
        # Why it fails, the card says.
        (row(Outcome.FAIL, note="Why."), f"{NUMBERS} | fail"),
        (row(Outcome.REFUSED, note="Why."), f"{NUMBERS} | refused"),
        (row(Outcome.CARRIED, note="See above."), f"{NUMBERS} | carried\n  See above."),
        # The value is an earlier run's: its numbers would contradict the error.
        (row(Outcome.ERROR, note="Raised."), "dh              | error"),
        (
            row(Outcome.PASS, 2 * REFERENCE),
            f"dh              | exact: False | approximate: False | maxdiff: 2.0 | pass\n  {STALE}",
        ),
    ],
)
def test_one_gradient(given: Row, text: str) -> None:
    assert describe([given]) == text


def test_a_value_without_an_answer_cell_is_said_to_be_so() -> None:
    text = describe([row(Outcome.TODO)])
    assert text.startswith(f"{NUMBERS} | to do\n  dh has a value, but no answer cell you ran")


def test_what_is_said_of_several_is_said_once() -> None:
    rows = [row(Outcome.CARRIED, note="See dlogits.", name=name) for name in ("dh", "dW2", "db2")]
    lines = describe(rows).splitlines()
    assert [line.split(" ")[0] for line in lines[:3]] == ["dh", "dW2", "db2"]
    assert lines[3:] == ["dh, dW2, db2:", "  See dlogits."]


def test_where_the_forward_pass_is_stale_the_card_says_so_instead() -> None:
    lines = describe([row(Outcome.PASS, 2 * REFERENCE)], stale_forward=True).splitlines()
    assert lines == ["dh              | exact: False | approximate: False | maxdiff: 2.0 | pass"]
