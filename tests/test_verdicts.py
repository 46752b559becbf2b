"""The file of verdicts: it is what the grader says, and keeps what is promised."""

from __future__ import annotations

from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from corpus.promises import mistakes, shares
from corpus.readers.attacks import corpus as attack_corpus
from corpus.readers.honest import HonestAnswer, honest_answers, styles
from corpus.verdicts import (
    BY_PREFIX,
    Case,
    Row,
    cases,
    differences,
    grade_case,
    read_rows,
    sample,
    write_rows,
)
from grader.execution.runner import Runner
from grader.verdict import EARNS_POINTS, Outcome

CORPORA = (
    *("right", "sample", "honest", "shortcut", "people", "public"),
    *("harmless", "fault", "other", "encore"),
)
LETTER = {outcome[0]: outcome for outcome in Outcome}


@cache
def every() -> list[Case]:
    return [*cases()]


@cache
def rows() -> dict[str, Row]:
    return read_rows()


def of(corpus: str) -> list[Case]:
    return [case for case in every() if case.corpus.split()[0] == corpus]


# --- it is what the grader says


@pytest.mark.parametrize("corpus", CORPORA)
def test_a_sample_is_graded_as_the_file_says(corpus: str, warm_runner: Runner) -> None:
    found = {case.key: grade_case(case, warm_runner) for case in sample(of(corpus))}
    assert [*differences({key: rows()[key] for key in found}, found)] == []


def test_the_file_has_every_answer_once() -> None:
    assert [*rows()] == [case.key for case in every()]


def test_the_sample_has_every_kind_once() -> None:
    kinds = Counter((case.corpus.split()[0], case.kind) for case in sample(every()))
    assert max(kinds.values()) == 1
    assert {corpus for corpus, _ in kinds} == {*CORPORA}
    assert {(c.corpus.split()[0], c.kind) for c in every() if not c.is_attack} == {*kinds}


# --- it keeps what is promised


@pytest.mark.parametrize("corpus", ["right", "shortcut"])
def test_a_right_answer_in_any_style_passes(corpus: str) -> None:
    assert [case.key for case in of(corpus) if {*rows()[case.key].outcomes} != {"p"}] == []


def test_a_harmless_variant_is_not_blamed() -> None:
    harmless = of("harmless")
    assert [case.key for case in harmless if not {*rows()[case.key].outcomes} <= {*"pc"}] == []


def test_a_mistake_is_blamed_on_its_gradient_alone() -> None:
    judged = [*mistakes(every(), rows())]
    assert len(judged) > 5_000
    assert [one.case.key for one in judged if not one.is_blamed_alone] == []


@pytest.mark.parametrize(
    ("corpus", "least_named", "most_misnamed"),
    [
        ("people open", 0.95, 0.015),
        ("people kept", 0.96, 0.01),
        ("public open", 0.9, 0.0),
        ("public kept", 0.8, 0.08),
        ("fault", 0.98, 0.006),
        ("other", 0.97, 0.01),
        ("encore", 0.64, 0.06),
    ],
)
def test_the_first_diagnosis_names_the_mistake(
    corpus: str, least_named: float, most_misnamed: float
) -> None:
    found = shares(mistakes([case for case in every() if case.corpus == corpus], rows()))
    assert found.share_named >= least_named
    assert found.share_misnamed <= most_misnamed


def is_due(answer: HonestAnswer, name: str, outcome: Outcome) -> bool:
    """True for the outcome that a gradient of this answer is to have."""
    due = answer.outcomes.get(name)
    if due is not None:
        return due in ("odd", outcome)
    # What reads an odd value is right by itself.
    return outcome in (EARNS_POINTS if answer.outcomes else {Outcome.PASS})


def test_no_honest_answer_loses_a_point_or_gets_another_flag() -> None:
    answers = [answer for style in styles() for answer in honest_answers(style)]
    assert len({answer.title for answer in answers}) == len(answers)
    for case, answer in zip(of("honest"), answers, strict=True):
        row = rows()[case.key]
        outcomes = zip(answer.exercise.gradients, row.outcomes, strict=True)
        lost = [name for name, said in outcomes if not is_due(answer, name, LETTER[said])]
        assert not lost, case.key
        assert {*row.flags.split()} == answer.flags | answer.needless, case.key
    assert sum(bool(answer.needless) for answer in answers) < len(answers) / 50


def test_no_attack_earns_what_it_may_not() -> None:
    for case, attack in zip(of("attack"), attack_corpus(), strict=True):
        outcomes = zip(BY_PREFIX["ex1"].gradients, rows()[case.key].outcomes, strict=True)
        assert {name for name, said in outcomes if said in "pc"} <= attack.earns, case.key


# --- how it is compared


def row(answer: str, outcomes: str, diagnoses: str = "", flags: str = "") -> Row:
    return Row(answer, outcomes, str(outcomes.count("p")), diagnoses, flags)


def test_the_same_change_of_several_answers_is_told_once() -> None:
    before = [row("a", "ppf", "dx:sign"), row("b", "ppf", "dy:sign"), row("c", "pp"), row("d", "e")]
    after = [row("a", "ppf"), row("b", "ppf"), row("c", "pc", flags="module"), row("e", "p")]
    told = differences(*({one.answer: one for one in rows} for rows in (before, after)))
    assert [*told] == [
        *("2 x diagnosis sign -> none", "    a", "    b"),
        *("1 x 1 gradient(s) p -> c; flag none -> module", "    c"),
        *("1 x gone", "    d", "1 x new", "    e"),
    ]


def test_what_is_written_is_read(tmp_path: Path) -> None:
    rows = [row("a | b c", "pcfetr", "dx:sign dy:axis", "module"), row("d", "")]
    write_rows(rows, tmp_path / "verdicts.tsv")
    assert [*read_rows(tmp_path / "verdicts.tsv").values()] == rows


def test_a_key_is_one_line_without_tabs() -> None:
    assert Case("people", "ex1\n|\tdx", "ex1", ()).key == "people | ex1 | dx"
