"""Reading answer cells as one program."""

import pytest

from grader.answer.parse import (
    DEEPEST,
    LONGEST_ANSWER,
    MOST_NODES,
    MOST_STATEMENTS,
    TOO_DEEP,
    TOO_LARGE,
    AnswerCell,
    Raised,
    parse_answer,
)
from grader.verdict import Place


def test_statements_know_their_cell_and_line() -> None:
    answer = parse_answer(
        [
            AnswerCell("ex1-loss", "# answer: ex1-loss\na = 1\nfor i in x:\n    b = 2"),
            AnswerCell("ex1-max", "c = 3; d = 4"),
        ]
    )
    assert [(place.cell, place.line) for place in answer.places] == [
        ("ex1-loss", 2),
        ("ex1-loss", 3),
        ("ex1-loss", 4),
        ("ex1-max", 1),
        ("ex1-max", 1),
    ]
    assert len(answer.top) == 4


def test_blanks_are_not_live() -> None:
    answer = parse_answer([AnswerCell("ex1-loss", "dh = ...  # your turn\ndC = 1\ndb = None")])
    assert answer.live == {1, 2}


@pytest.mark.parametrize(
    ("source", "sentence", "line"),
    [
        ("x = 1\ny = (2", "Python cannot read this cell: '(' was never closed.", 2),
        ("x = 1\n  y = 2", "Python cannot read this cell: unexpected indent.", 2),
        ("return 1", "Python cannot read this cell: 'return' outside function.", 1),
        ("x = ... y / z", "Python cannot read this cell: take out the `...`.", 1),
        ("x = y + 2 z", "Python cannot read this cell: a sign, such as `*`, is missing behind", 1),
        ("x = (1 - y)z", "Python cannot read this cell: a sign, such as `*`, is missing behind", 1),
        ("x = y x z", "Python cannot read this cell: times is written `*`.", 1),
        ("f(x) y = 2", "Python cannot read this cell: invalid syntax.", 1),
        ("x = y +\nz", "Python cannot read this cell: the line ends with a sign; it goes on", 1),
        ("x = 2 if y z", "Python cannot read this cell: expected 'else' after 'if' expression.", 1),
        ("x = 1\0", "Python cannot read this cell: source code string cannot contain null", 1),
        ("x = " + "(" * 500 + ")" * 500, "Python cannot read this cell: ", 1),
        ("x = " + "-" * 90_000 + "1", TOO_DEEP, 1),
        ("dX = \ud800", "Python cannot read this cell: ", 1),
    ],
    ids=[
        *(
            "bracket",
            "indent",
            "return",
            "dots",
            "number",
            "factor",
            "x",
            "two",
            "sign",
            "if",
            "null",
            "nested",
            "deep",
        ),
        "surrogate",
    ],
)
def test_a_cell_that_is_not_python_is_set_aside(source: str, sentence: str, line: int) -> None:
    answer = parse_answer([AnswerCell("ex1-loss", source), AnswerCell("ex1-max", "dh = 1")])
    (reason,) = answer.broken.values()
    assert reason.message.startswith(sentence)
    assert reason.place == Place("ex1-loss", line)
    assert [place.cell for place in answer.places] == ["ex1-max"]


NESTED = {
    "terms": "dh = dh" + " + 0" * 600,
    "methods": "dh = dh" + ".clone()" * 200,
    "branches": "if n == 0:\n    dh = 0\n" + "elif n == 1:\n    dh = 1\n" * 600,
}


@pytest.mark.parametrize("source", NESTED.values(), ids=NESTED.keys())
def test_a_cell_that_is_nested_too_deeply_is_set_aside(source: str) -> None:
    answer = parse_answer([AnswerCell("ex1-loss", source), AnswerCell("ex1-max", "dh = 1")])
    (reason,) = answer.broken.values()
    assert (reason.message, reason.place) == (TOO_DEEP, Place("ex1-loss", 1))
    assert [place.cell for place in answer.places] == ["ex1-max"]


LARGE = {
    "characters": ("# " + "x" * LONGEST_ANSWER, "# " + "x" * (LONGEST_ANSWER - 20)),
    "statements": ("a\n" * (MOST_STATEMENTS + 1), "a\n" * (MOST_STATEMENTS - 1)),
    "nodes": (f"a = [{'1, ' * MOST_NODES}]", f"a = [{'1, ' * (MOST_NODES - 20)}]"),
}


@pytest.mark.parametrize(("large", "largest"), LARGE.values(), ids=LARGE.keys())
def test_of_too_large_an_answer_nothing_is_read(large: str, largest: str) -> None:
    small = AnswerCell("ex1-max", "dh = 1")
    answer = parse_answer([small, AnswerCell("ex1-loss", large)])
    assert answer.unread == Raised(TOO_LARGE, Place("ex1-loss", 1))
    assert not answer.statements
    assert parse_answer([small, AnswerCell("ex1-loss", largest)]).unread is None


def test_cells_are_too_large_together() -> None:
    half = "#" * (LONGEST_ANSWER // 2 + 1)
    assert parse_answer([AnswerCell("ex1-loss", half)]).unread is None
    assert parse_answer([AnswerCell("ex1-loss", half), AnswerCell("ex1-max", half)]).unread


def test_what_is_nested_less_is_read() -> None:
    source = "dh = dh" + " + 0" * (DEEPEST - 10)
    assert not parse_answer([AnswerCell("ex1-loss", source)]).broken


def test_del_is_left_out() -> None:
    answer = parse_answer([AnswerCell("ex1-loss", "dh = 1\ndel dh\nif n:\n    del dh, n")])
    assert answer.live == {0, 2}


def test_an_answer_that_warns_is_read_without_a_word() -> None:
    """A student's invalid escape sequence is not ours to complain about."""
    answer = parse_answer([AnswerCell("ex1-loss", 'x = "\\d"; y = 1 is 1')])
    assert not answer.broken
    assert len(answer.statements) == 2
