"""The result types: points, scores, counts."""

import pytest

from grader.verdict import Check, Comparison, Outcome, Report, Verdict, count_outcomes


def verdict(outcome: Outcome, max_points: int = 1) -> Verdict:
    comparison = Comparison("h", True, True, 0.0, (2,), (2,))
    return Verdict("dh", outcome, comparison, Check.RIGHT, Check.RIGHT, max_points=max_points)


@pytest.mark.parametrize(
    ("outcome", "points"),
    [
        (Outcome.PASS, 3),
        (Outcome.CARRIED, 3),
        (Outcome.FAIL, 0),
        (Outcome.TODO, 0),
        (Outcome.ERROR, 0),
        (Outcome.REFUSED, 0),
    ],
)
def test_only_what_is_right_earns_points(outcome: Outcome, points: int) -> None:
    assert verdict(outcome, max_points=3).points == points


def test_every_outcome_is_in_the_table_above() -> None:
    assert len(Outcome) == 6


def test_a_report_adds_up() -> None:
    report = Report(
        "nb", (verdict(Outcome.PASS, 2), verdict(Outcome.CARRIED), verdict(Outcome.FAIL))
    )
    assert (report.score, report.max_score) == (3, 4)


@pytest.mark.parametrize("outcome", Outcome)
def test_only_passes_make_a_report_pass(outcome: Outcome) -> None:
    report = Report("nb", (verdict(Outcome.PASS), verdict(outcome)))
    assert report.passed is (outcome is Outcome.PASS)


def test_counts_come_in_the_order_of_the_outcomes_without_zeros() -> None:
    verdicts = [verdict(Outcome.FAIL), verdict(Outcome.PASS), verdict(Outcome.FAIL)]
    assert list(count_outcomes(verdicts).items()) == [(Outcome.PASS, 1), (Outcome.FAIL, 2)]
    assert count_outcomes([]) == {}
