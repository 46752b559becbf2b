from __future__ import annotations

from fractions import Fraction

import pytest

from grader.classroom.gradebook.platform_form import (
    PlatformForm,
    factor,
    graded_text,
    maximum_in,
    read_scale,
    target,
)
from grader.classroom.gradebook.table import Column, Table

TABLE = Table((Column("01", (), Fraction(50), {}, 1),), (), {}, frozenset())


@pytest.mark.parametrize(
    ("text", "platform", "becomes"),
    [
        ("platform", Fraction(47), Fraction(47)),
        ("platform", None, Fraction(25)),  # the most of this column
        ("none", Fraction(47), None),
        ("100", Fraction(47), Fraction(50)),  # half of all points
        ("12,5", None, Fraction(25, 4)),
    ],
)
def test_what_points_become(text: str, platform: Fraction | None, becomes: Fraction | None) -> None:
    assert target(PlatformForm(read_scale(text)), platform, Fraction(25), TABLE) == becomes


@pytest.mark.parametrize("text", ["", "0", "-3", "nan", "inf", "1e9", "1e-999999999", "moodle"])
def test_no_scale(text: str) -> None:
    with pytest.raises(ValueError, match="is no scale: write platform, none, or a number above 0"):
        read_scale(text)


def test_numbers_of_platforms() -> None:
    assert [maximum_in(text) for text in ("47.00", "100,00", "-", "(read only)", "0")] == [
        *(Fraction(47), Fraction(100), None, None, None)
    ]


def test_a_grade() -> None:
    assert graded_text(Fraction(1), factor(Fraction(10), Fraction(3))) == "3.33"
    assert graded_text(Fraction(1, 3), factor(None, Fraction(3))) == "0.333333"
    assert factor(Fraction(10), Fraction(0)) == 1
