"""Numbers that depend on sizes are recognised and written as a student would."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from grader.diagnosis.factors import name_factor

INSTANCES = ({"n": 7, "vocab_size": 11}, {"n": 9, "vocab_size": 8}, {"n": 37, "vocab_size": 29})
LECTURE = {"n": 32, "vocab_size": 27}


@pytest.mark.parametrize(
    ("of", "text", "at_lecture", "is_bessel"),
    [
        (lambda n, _: -1.0, "-1", "-1", False),
        (lambda n, _: 0.5, "0.5", "0.5", False),
        (lambda n, _: n, "n", "32 (n)", False),
        (lambda n, _: 1 / n, "1/n", "0.03125 (1/n)", False),
        (lambda n, _: n / (n - 1), "n/(n - 1)", "1.03226 (n/(n - 1))", True),
        (lambda n, _: (n - 1) / n, "(n - 1)/n", "0.96875 ((n - 1)/n)", True),
        (lambda n, _: -2 / (n - 1), "-2 * 1/(n - 1)", "-0.0645161 (-2 * 1/(n - 1))", False),
        (lambda n, _: (2 * n) ** 0.5, "1.41421 * n**0.5", "8", False),
        (lambda n, _: (2 * n) ** -0.5, "0.707107 * 1/n**0.5", "0.125", False),
        (lambda n, _: -((n / 2) ** 0.5), "-0.707107 * n**0.5", "-4", False),
        (lambda n, _: 3 * n**0.5, "3 * n**0.5", "16.9706 (3 * n**0.5)", False),
        (lambda n, v: 1 / (n * v), "1/(n * vocab_size)", "0.00115741 (1/(n * vocab_size))", False),
    ],
)
def test_a_factor_has_a_name(
    of: Callable[[float, float], float], text: str, at_lecture: str, is_bessel: bool
) -> None:
    scales = [of(sizes["n"], sizes["vocab_size"]) for sizes in INSTANCES]
    factor = name_factor(scales, INSTANCES)
    assert factor is not None
    assert (factor.text, factor.at(LECTURE), factor.is_bessel) == (text, at_lecture, is_bessel)
    assert factor.written_out(LECTURE) is None


def test_a_size_that_is_written_out_is_given_away() -> None:
    """With 32 for n, what comes out is right where n is 32, and nowhere else."""
    factor = name_factor([sizes["n"] / 32 for sizes in INSTANCES], INSTANCES)
    assert factor is not None
    assert factor.written_out(LECTURE) == "n"


def test_what_has_no_short_name_has_none() -> None:
    assert name_factor([0.3, 0.7, 0.11], INSTANCES) is None


def test_two_equal_numbers_by_chance_are_no_factor() -> None:
    """All instances count: what fits two of them may be a coincidence."""
    assert name_factor([7.0, 9.0, 36.0], INSTANCES) is None
