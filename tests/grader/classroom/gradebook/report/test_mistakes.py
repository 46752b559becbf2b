"""A line that is shown to others does not say whose it is."""

from __future__ import annotations

import pytest

from grader.classroom.gradebook.report.mistakes import LONGEST, shareable, without_comments
from grader.classroom.intake.class_folder import Student

ADA = Student("love0001", "Lovelace, Ada", "ada@uni.example")


@pytest.mark.parametrize(
    ("code", "shown"),
    [
        ("dz = p * dp  # by Bob", "dz = p * dp"),
        ("s = '# none'  # one", "s = '# none'"),
        ("dz = (p *  # Bob's idea", "dz = (p *"),  # the bracket is closed on another line
        ("dz = )  # Bob", "dz = )"),
        ("a = 1  # Bob\nb = 2  # Bob", "a = 1 b = 2"),
        ("   dz  =  1", "dz = 1"),
        ("# Bob wrote this", ""),
        ("x" * 1_000, "x" * LONGEST),
        ("dz\x00 = 1  # Bob", "dz\x00 = 1"),
    ],
)
def test_comments_are_left_out(code: str, shown: str) -> None:
    assert shareable(code, ADA) == shown


@pytest.mark.parametrize(
    "code", ["ada = 1", "d_ada = 1", "lovelace2 = dp", "print('Lovelace')", "love0001 = dz"]
)
def test_a_line_with_its_authors_name_is_none(code: str) -> None:
    assert shareable(code, ADA) == ""


def test_short_parts_of_a_name_are_words_of_mathematics() -> None:
    assert shareable("dh = dz @ W", Student("w", "H. Dz")) == "dh = dz @ W"


def test_code_without_comments_stays_as_it_is() -> None:
    code = "for i in range(3):\n    a += i"
    assert without_comments(code) == code
