"""The first diagnosis names the mistake: measured over labelled one-fault variants."""

from __future__ import annotations

from collections import Counter

import pytest

from corpus.readers.faults import one_in
from corpus.readers.labels import RULES
from corpus.readers.measure import (
    BLAMED,
    Measured,
    Result,
    judge_one,
    report_lines,
    shares,
)
from corpus.readers.one_fault import (
    HARMLESS,
    STYLES,
    LabelledFault,
    collected,
    corpus,
    fast_sample,
    faults_in_pairs,
    harmless_variants,
    population,
    right_answer,
    with_both,
)
from grader.diagnosis.kinds import Kind
from grader.execution.runner import Runner

MOST_MISNAMED = 0.01
LEAST_NAMED = 0.965
ROWS_OF_THE_COLLECTION = range(1, 33)


# --- the corpus is what it says


def test_the_corpus_is_large_and_of_many_hands() -> None:
    faults = corpus()
    assert len(faults) >= 600
    assert {fault.prefix for fault in faults} == set(STYLES)
    for prefix, styles in STYLES.items():
        assert len(styles) >= 4
        assert {f.style for f in faults if f.prefix == prefix} == set(styles)
    assert len({(f.prefix, f.style, f.source) for f in faults}) == len(faults)


def test_every_kind_that_an_edit_can_make_occurs() -> None:
    named = {kind for fault in corpus() if fault.label.named for kind in fault.label.kinds}
    # The first is the notebook's own mistake, the others take more than an edit of a right answer:
    # people make them, and corpus/people has them.
    assert set(Kind) - named == {
        *(Kind.STALE_FORWARD, Kind.MULTIPLIED_BRANCHES, Kind.EXTRA_TERM, Kind.STATEMENT)
    }


def test_every_row_of_the_collection_occurs() -> None:
    rows = {fault.row for fault in (*collected(), *harmless_variants())}
    assert rows >= set(ROWS_OF_THE_COLLECTION)


def test_every_operator_has_a_rule_and_every_rule_an_operator() -> None:
    made = {fault.operator for fault in population()}
    assert made == set(RULES)


def test_labels_with_two_kinds_say_why() -> None:
    for fault in (*population(), *collected()):
        label = fault.label
        assert label.kinds or not label.named
        assert label.reason or len(label.kinds) == label.named, fault.key


def test_keys_are_unique_and_no_entry_of_the_lists_is_left_over() -> None:
    variants = [*population(), *harmless_variants()]
    keys = Counter(fault.key for fault in variants)
    assert not [key for key, count in keys.items() if count > 1]
    assert set(HARMLESS) <= set(keys)


def test_pairs_are_of_two_gradients_and_make_another_text() -> None:
    pairs = faults_in_pairs()
    assert len(pairs) >= 60
    for first, second in pairs:
        assert first.gradient != second.gradient
        text = with_both((first, second))
        assert text not in (first.source, second.source)
        assert text != right_answer(first.prefix, first.style)


# --- what the grader says of it


def measured_alone(fault: LabelledFault, runner: Runner) -> Measured:
    return Measured(fault, judge_one(fault.prefix, fault.source, runner))


@pytest.mark.parametrize(
    "fault", fast_sample(), ids=lambda f: f"{f.prefix}-{f.name}-{f.gradient}-{f.operator}"
)
def test_a_fault_of_the_sample_is_blamed_and_not_misnamed(
    fault: LabelledFault, warm_runner: Runner
) -> None:
    found = measured_alone(fault, warm_runner)
    assert found.blamed_alone, fault.key
    assert found.result is not Result.WRONG, f"{fault.key}: {found.own}"


@pytest.mark.parametrize(
    ("prefix", "style"), [(prefix, style) for prefix, styles in STYLES.items() for style in styles]
)
def test_right_answers_get_no_diagnosis(prefix: str, style: str, warm_runner: Runner) -> None:
    verdicts = judge_one(prefix, right_answer(prefix, style), warm_runner)
    assert not [v for v in verdicts if v.outcome in BLAMED or v.said]


@pytest.mark.slow
def test_first_diagnoses_name_the_faults(warm_runner: Runner) -> None:
    """The measured sentence of the course's promise, over every eighth fault of the corpus.

    `make bench ARGS=diagnosis` measures all of them.
    """
    measured = [measured_alone(fault, warm_runner) for fault in corpus()[:: one_in(8)]]
    found = shares(measured)
    report = "\n".join(report_lines(measured))
    assert [m.fault.key for m in measured if not m.blamed_alone] == []
    assert found.named >= LEAST_NAMED, report
    assert found.misnamed <= MOST_MISNAMED, report


@pytest.mark.slow
def test_faults_two_at_a_time_are_both_blamed(warm_runner: Runner) -> None:
    for first, second in faults_in_pairs()[:: one_in(2)]:
        verdicts = judge_one(first.prefix, with_both((first, second)), warm_runner)
        blamed = {verdict.name for verdict in verdicts if verdict.outcome in BLAMED}
        assert blamed == {first.gradient, second.gradient}, (first.key, second.key)


@pytest.mark.slow
def test_harmless_variants_are_neither_blamed_nor_diagnosed(warm_runner: Runner) -> None:
    for fault in harmless_variants():
        found = measured_alone(fault, warm_runner)
        assert not found.blamed, found.fault.key
        assert not any(verdict.said for verdict in found.verdicts), found.fault.key
