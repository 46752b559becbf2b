"""The file of verdicts: what the grader says of a sample of each corpus is what the file says."""

from __future__ import annotations

from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from corpus.readers.honest import styles
from corpus.verdicts import Case, Row, cases, differences, grade_case, read_rows, sample, write_rows
from grader.execution.runner import Runner

CORPORA = (
    "right",
    "sample",
    "honest",
    "shortcut",
    "people",
    "harmless",
    "fault",
    "other",
    "encore",
)


@cache
def sampled() -> list[Case]:
    return sample(cases())


@pytest.mark.parametrize("corpus", CORPORA)
def test_the_sample_is_graded_as_the_file_says(corpus: str, warm_runner: Runner) -> None:
    chosen = [case for case in sampled() if case.corpus.split()[0] == corpus]
    found = {case.key: grade_case(case, warm_runner) for case in chosen}
    on_file = {key: row for key, row in read_rows().items() if key in found}
    assert [*differences(on_file, found)] == []


def test_the_file_has_every_answer_once() -> None:
    assert [*read_rows()] == [case.key for case in cases()]


def test_the_sample_has_every_kind_once() -> None:
    kinds = Counter((case.corpus.split()[0], case.kind) for case in sampled())
    assert max(kinds.values()) == 1
    assert {corpus for corpus, _ in kinds} == {*CORPORA}
    assert {(c.corpus.split()[0], c.kind) for c in cases() if not c.is_attack} == {*kinds}
    assert {case.kind for case in sampled() if case.corpus == "honest"} == {*styles()}


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
