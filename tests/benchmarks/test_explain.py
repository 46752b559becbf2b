"""Some of the gradient bugs, explained as the benchmark explains all of them."""

from __future__ import annotations

import pytest

from benchmarks import explain
from benchmarks.explain import Measured, measure, table

SAMPLE = (
    "batch_norm_statistics_constant",
    "gather_repeated_index",
    "isrlu_upstream_ignored",
    "lstm_last_cell_ignored",
    "padding_of_zero",
    "rms_norm_groups_ignored",
    "rms_norm_residual_joined_early",
    "scatter_keeps_overwritten",
    "square_without_two",
)


@pytest.mark.parametrize("name", SAMPLE)
def test_the_right_gradients_are_blamed_and_the_mistake_named(name: str) -> None:
    found = measure(name)
    assert found.is_blamed, found.line
    assert found.is_named, found.line
    assert found.is_mended, found.line


def measured(blamed: str, kinds: tuple[str, ...]) -> Measured:
    return Measured(
        "a_bug", frozenset({blamed}), frozenset({"dx"}), kinds, frozenset({"sign"}), True
    )


def test_what_counts_as_blamed_named_and_misnamed() -> None:
    good, silent = measured("dx", ("sign",)), measured("dx", ())
    half, other = measured("dx", ("sign", "nan")), measured("dy", ("nan",))
    assert [one.is_blamed for one in (good, silent, half, other)] == [True, True, True, False]
    assert [one.is_named for one in (good, silent, half, other)] == [True, False, False, False]
    assert [one.is_misnamed for one in (good, silent, half, other)] == [False, False, True, True]
    assert "said nothing for sign" in silent.line
    assert "blamed dy" in other.line
    assert "| the mistake named | 25% | 70% |" in table([good, silent, half, other])


def test_a_goal_that_is_missed_fails(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(explain, "measure", lambda name: measured("dx", ()))
    assert explain.main(["a_bug"]) == 1
    assert "a_bug: said nothing for sign" in capsys.readouterr().out
    monkeypatch.setattr(explain, "measure", lambda name: measured("dx", ("sign",)))
    assert explain.main(["a_bug"]) == 0
