from __future__ import annotations

import pytest

from grader.reports.result import Graded
from grader.verdict import Place


@pytest.mark.parametrize(
    ("place", "line"),
    [
        (Place("ex1-softmax", 1), "# answer: ex1-softmax"),
        (Place("ex1-softmax", 8), "dlogits = logits.grad"),
        (Place("ex1-softmax", 9), ""),
        (Place("ex1-softmax", 0), ""),
        (Place("ex1-softmax", -1), ""),
        (Place("ex1-tanh", 1), ""),
        (None, ""),
    ],
)
def test_the_students_line(mixed: Graded, place: Place | None, line: str) -> None:
    assert mixed.line_at(place) == line
