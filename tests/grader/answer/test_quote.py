"""A student's line as it is quoted."""

from collections.abc import Sequence

import pytest

from grader.answer import quote as quotes
from grader.answer.parse import AnswerCell, parse_answer
from grader.verdict import Place


def quote(place: Place | None, cells: Sequence[AnswerCell]) -> str:
    return quotes.quote(place, cells, parse_answer(cells).last_lines)


@pytest.mark.parametrize(
    ("place", "line"),
    [
        (Place("ex1-softmax", 1), "# answer: ex1-softmax"),
        (Place("ex1-softmax", 3), "dlogits = logits.grad"),
        (Place("ex1-softmax", 4), ""),
        (Place("ex1-softmax", 0), ""),
        (Place("ex1-softmax", -1), ""),
        (Place("ex1-tanh", 1), ""),
        (None, ""),
    ],
)
def test_the_students_line(place: Place | None, line: str) -> None:
    source = "# answer: ex1-softmax\n\n    dlogits = logits.grad  "
    assert quote(place, [AnswerCell("ex1-softmax", source)]) == line


def test_nobody_wants_to_read_a_megabyte() -> None:
    line = quote(Place("ex1-x", 1), [AnswerCell("ex1-x", f"dh = {'1 + ' * 250_000}1")])
    assert len(line) == 300
    assert line.endswith("…")


def test_a_statement_over_several_lines_is_quoted_as_one() -> None:
    source = "x = 1\ndh = (\n    dlogits\n    @ W2.T\n)\nfor i in range(3):\n    pass\n"
    cells = [AnswerCell("ex1-linear2", source)]
    assert quote(Place("ex1-linear2", 2), cells) == "dh = (dlogits @ W2.T)"
    assert quote(Place("ex1-linear2", 4), cells) == "@ W2.T"
    assert quote(Place("ex1-linear2", 6), cells) == "for i in range(3):"


def test_a_cell_that_is_not_python_is_quoted_by_its_line() -> None:
    cells = [AnswerCell("ex1-linear2", "dh = (\n    dlogits")]
    assert quote(Place("ex1-linear2", 1), cells) == "dh = ("
