from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from corpus.readers.lecture_course import COURSE
from grader.classroom.gradebook.make_book import make_book
from grader.classroom.gradebook.platform_csv import assignment
from grader.classroom.gradebook.platform_form import PlatformForm, maximum_in, read_scale
from grader.classroom.gradebook.rubric import parse_rubric
from tests.helpers.lines import BATCHNORM, FUSED, class_of, journal


@pytest.mark.parametrize(
    ("text", "maximum", "grade"),
    [
        ("platform", Fraction(47), "15.67"),
        ("platform", None, "1"),  # the most of this column
        ("none", Fraction(47), "1"),
        ("100", Fraction(47), "11.11"),  # 3 of all 9 points
        ("12,5", None, "1.39"),
    ],
)
def test_what_a_point_of_three_becomes(
    tmp_path: Path, text: str, maximum: Fraction | None, grade: str
) -> None:
    results = journal(tmp_path / "results.sqlite", [])
    rubric = parse_rubric(f'notebooks = ["{FUSED}", "{BATCHNORM}"]\n[ex2]\ndlogits = 2', COURSE)
    book = make_book(class_of([]), results, rubric, form=PlatformForm(read_scale(text)))
    column = assignment(book, "HW", FUSED, maximum)
    assert column.scaled(Fraction(1), column.most) == grade


@pytest.mark.parametrize("text", ["", "0", "-3", "nan", "inf", "1e9", "1e-999999999", "moodle"])
def test_no_scale(text: str) -> None:
    with pytest.raises(
        ValueError, match="is not a scale: write platform, none, or a number above 0"
    ):
        read_scale(text)


def test_numbers_of_platforms() -> None:
    assert [maximum_in(text) for text in ("47.00", "100,00", "-", "(read only)", "0")] == [
        *(Fraction(47), Fraction(100), None, None, None)
    ]
