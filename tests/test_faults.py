"""The one-fault variants are what they say: one mistake each, and visible as labelled."""

from __future__ import annotations

import ast
from collections import Counter

import pytest

from corpus.readers.exercise_text import GRADIENTS, right_answers
from corpus.readers.faults import (
    EQUIVALENT,
    MUTATED_ANSWERS,
    ONLY_LOCAL,
    all_faults,
    one_fault_variants,
    variants_of,
)
from corpus.readers.measure import BLAMED, judge_one
from corpus.readers.one_fault import (
    HARMLESS,
    faults_in_pairs,
    harmless_variants,
    population,
    with_both,
)
from grader.execution.runner import Runner

pytestmark = pytest.mark.slow

TINY = """\
# answer: ex1-loss
dprobs = dlogprobs / probs
scale = counts_sum**-2
dcounts_sum = -scale * dcounts_sum_inv
"""


def test_a_variant_says_where_its_mistake_stands() -> None:
    assert [
        (fault.gradient, fault.line, fault.after)
        for fault in one_fault_variants(TINY)
        if fault.kind in {"forward-for-gradient", "power-changed", "sign-flipped"}
    ] == [
        ("dprobs", 2, "dprobs = -(dlogprobs / probs)"),
        ("dprobs", 2, "dprobs = logprobs / probs"),
        ("dcounts_sum", 3, "scale = -counts_sum ** (-2)"),
        ("dcounts_sum", 3, "scale = counts_sum ** (-2 + 1)"),
        ("dcounts_sum", 3, "scale = counts_sum**2"),
        ("dcounts_sum", 4, "dcounts_sum = -(-scale * dcounts_sum_inv)"),
        ("dcounts_sum", 4, "dcounts_sum = scale * dcounts_sum_inv"),
        ("dcounts_sum", 4, "dcounts_sum = -scale * counts_sum_inv"),
    ]


def test_a_helper_of_two_gradients_stays_whole() -> None:
    shared = "g = dlogits * 2\ndh = g @ W2.T\ndb2 = g.sum(0)\n"
    assert not [fault for fault in one_fault_variants(shared) if fault.line == 1]


@pytest.mark.parametrize("answer", MUTATED_ANSWERS)
def test_a_variant_differs_in_one_statement(answer: str) -> None:
    right = right_answers()[answer]
    statements = [ast.dump(node) for node in ast.parse(right).body]
    for fault in variants_of(answer):
        mutated = [ast.dump(node) for node in ast.parse(fault.source).body]
        changed = [old != new for old, new in zip(statements, mutated, strict=True)]
        assert sum(changed) == 1, fault.key
        assert fault.before != fault.after


def test_every_mutated_answer_has_faults_in_every_gradient() -> None:
    assert len(all_faults()) >= 400
    places = Counter((fault.answer, fault.gradient) for fault in all_faults())
    assert set(places) == {(answer, g) for answer in MUTATED_ANSWERS for g in GRADIENTS}


def test_no_entry_of_the_harmless_variants_is_left_over() -> None:
    keys = Counter(fault.key for fault in (*population(), *harmless_variants()))
    assert not [key for key, count in keys.items() if count > 1]
    assert set(HARMLESS) <= set(keys)


def test_variants_are_unique() -> None:
    variants = [fault for answer in MUTATED_ANSWERS for fault in variants_of(answer)]
    assert len({fault.source for fault in variants}) == len(variants)
    keys = Counter(fault.key for fault in variants)
    assert not [key for key, count in keys.items() if count > 1]
    # A line of the tables that no operator makes any more is a leftover.
    assert set(EQUIVALENT) | ONLY_LOCAL <= set(keys)
    assert not set(EQUIVALENT) & ONLY_LOCAL


def test_faults_two_at_a_time_are_both_blamed(warm_runner: Runner) -> None:
    for first, second in faults_in_pairs()[::2]:
        verdicts = judge_one(first.prefix, with_both((first, second)), warm_runner)
        blamed = {verdict.name for verdict in verdicts if verdict.outcome in BLAMED}
        assert blamed == {first.gradient, second.gradient}, (first.key, second.key)
