"""Some of the courses that `grader new` makes, graded as the benchmark grades all of them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks import new_course
from benchmarks.new_course import Made, is_met, make, measure, solution, table
from corpus.readers.any_exercise import is_right, variants
from corpus.readers.measure import Judged, Measured, Result, judge_answer
from grader.execution.runner import Runner
from grader.verdict import Outcome

SAMPLE = ("hinge_loss", "kl_of_two_gaussians")
VARIANTS = 6


@pytest.mark.slow
@pytest.mark.parametrize("function", SAMPLE)
def test_solutions_pass_and_mistakes_in_them_are_blamed_alone(
    function: str, tmp_path: Path, warm_runner: Runner
) -> None:
    layout, exercise = new_course.new_course(function, tmp_path)
    right = solution(layout, exercise)
    assert {v.outcome for v in judge_answer(exercise, right, warm_runner)} == {Outcome.PASS}
    measured = measure(exercise, right, warm_runner, VARIANTS)
    assert len(measured) == VARIANTS
    assert [m.fault.key for m in measured if not m.blamed_alone] == []
    assert [m.fault.key for m in measured if m.result is Result.WRONG] == []


def test_a_variant_that_is_right_is_no_mistake(tmp_path: Path) -> None:
    layout, exercise = new_course.new_course("attention_with_mask", tmp_path)
    right = solution(layout, exercise)
    found = {fault.after: fault for fault in variants(exercise, right)}
    for after, no_mistake in (
        ("dhighest = -dshifted.sum(2, keepdim=True) * 0", True),  # zero by structure
        ("dhighest = dshifted.sum(2, keepdim=True)", False),
        ("largest = 2 * (masked == highest).type_as(masked)", True),  # divided by its own sum
        ("dscaled = -dmasked.masked_fill(ones.tril() == 0, 0)", False),
    ):
        assert is_right(exercise, found[after]) is no_mistake, after


@pytest.mark.slow
def test_the_notebooks_are_built() -> None:
    made = make("hinge_loss", most=2)
    assert (made.gradients, made.derived, made.passed, made.complaints) == (7, 7, 7, ())
    assert is_met([made])


def test_what_is_not_as_it_should_be_fails(tmp_path: Path) -> None:
    layout, exercise = new_course.new_course("hinge_loss", tmp_path)
    fault = next(variants(exercise, solution(layout, exercise)))
    (kind, *_) = fault.label.kinds
    blamed = Judged(fault.gradient, Outcome.FAIL, said=(kind,))
    good = Made("hinge_loss", 7, 7, 7, (), (Measured(fault, (blamed,)),))
    assert is_met([good])
    assert "| hinge_loss | 7 | 7 | 7 | in order | 1 | 1 | 1 | 1 | 0 | 0 |" in table([good])
    misnamed = (Measured(fault, (replace(blamed, said=("nan",)),)),)
    unblamed = (Measured(fault, (replace(blamed, outcome=Outcome.PASS, said=()),)),)
    for bad in (
        replace(good, derived=6),
        replace(good, passed=6),
        replace(good, complaints=("A hint is missing.",)),
        replace(good, measured=misnamed),
        replace(good, measured=unblamed),
    ):
        assert not is_met([bad])
        assert not is_met([good, bad])
