from __future__ import annotations

import pytest

from grader.answer.normal import MOST_LINES, normal_lines
from grader.answer.parse import AnswerCell
from grader.verdict import Place

GRADIENTS = frozenset({"dh", "dW2"})
NAMES = GRADIENTS | {"h", "W2", "dlogits"}


def texts(source: str) -> list[str]:
    return [line.text for line in normal_lines([AnswerCell("ex1-a", source)], NAMES, GRADIENTS)]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("dh=dlogits@W2.T", "dh = (dlogits\n      @ W2.T)  # at last"),
        ("tmp = W2.T; dh = dlogits @ tmp", "mine = W2.T\n\ndh = dlogits @ mine"),
        ("for i in range(3):\n    dh[i] = h", "for row in range(3):\n  # each\n  dh[row] = h"),
        ("def f(a: int) -> int:\n    return a", 'def g(x):\n    "Doc."\n    return x'),
        ("dh: Tensor = h", "dh = h"),
        ("dh = [a for a in h]", "dh = [é for é in h]"),
        ("if h:\n    x = 1\nelse:\n    x = 2", "if h: y = 1\nelse: y = 2"),
        ("%time\nt = h", "t = h"),
    ],
)
def test_names_of_ones_own_layout_and_comments_are_gone(one: str, other: str) -> None:
    assert texts(one) == texts(other) != []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("dh = dlogits @ W2.T", "dh = dlogits @ W2"),
        ("dh = dlogits", "dW2 = dlogits"),
        ("x = h.sum(0)", "x = h.sum(1)"),
        ("dh = a * b", "dh = a * a"),
        ("dh = torch.exp(h)", "dh = torch.log(h)"),
    ],
)
def test_what_is_computed_stays(one: str, other: str) -> None:
    assert texts(one) != texts(other)


@pytest.mark.parametrize(
    "source", ["dh = ...  # your turn", "# nothing", "'a remark'", "pass", "dh = = 1", "x = 1\0"]
)
def test_what_says_nothing_has_no_line(source: str) -> None:
    assert texts(source) == []


def test_a_name_is_numbered_in_its_own_statement() -> None:
    assert texts("a = 1\nb = a + c") == ["_1 = 1", "_1 = _2 + _3"]


def test_lines_up_to_the_next_gradient_are_one_part() -> None:
    source = "a = W2.T\ndh = dlogits @ a\nfor i in h:\n    dW2[i] = h\nprint(1)"
    found = normal_lines([AnswerCell("ex1-a", source)], NAMES, GRADIENTS)
    assert [line.part for line in found] == [0, 0, 1, 1, 2]
    assert [line.place for line in found] == [Place("ex1-a", n) for n in (1, 2, 3, 4, 5)]


def test_code_without_end_or_bottom_is_read_no_further() -> None:
    assert len(texts("x = 1\n" * (MOST_LINES + 5))) == MOST_LINES
    assert texts(f"x = {'-' * 5_000}1") == []
    assert texts("x = 1 #" + "x" * 200_000) == []
