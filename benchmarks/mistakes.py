"""How often the first diagnosis names the mistake, over every answer with one mistake in it.

python -m benchmarks.mistakes         a row for each corpus and exercise
python -m benchmarks.mistakes --earn  the sentences of the table that earn too little
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

from corpus.promises import Judged, mistakes, shares
from corpus.verdicts import LIMITS, Case, cases, grade_case, grade_cases
from grader.diagnosis import diagnose
from grader.diagnosis import mistakes as table_of
from grader.diagnosis.edit import Edit
from grader.diagnosis.findings import findings
from grader.diagnosis.mistakes import Rule
from grader.diagnosis.repair import Search
from grader.diagnosis.shown import Explanation
from grader.execution.runner import Runner
from grader.verdict import Verdict

CASES = Path(__file__).parent.parent / "build" / "diagnosis.txt"
"""Where every mistake that is misnamed, unnamed or blamed on another is listed."""


def main(arguments: list[str] | None = None) -> None:
    """Print a row for each corpus and exercise; with words, of these alone (`people ex3`)."""
    words = {*(sys.argv[1:] if arguments is None else arguments)}
    if "--earn" in words:
        print_earnings(words - {"--earn"})
        return
    chosen = [
        case
        for case in cases()
        if case.wrong and (not words or words <= {*case.corpus.split(), case.prefix})
    ]
    start = time.perf_counter()
    rows = {row.answer: row for row in grade_cases(chosen)}
    seconds = time.perf_counter() - start
    judged = [*mistakes(chosen, rows)]
    print(f"{'corpus':12} {'exercise':10} {'answers':>7} {'asked':>6} {'named':>7} {'wrong':>7}")
    for corpus, prefix in dict.fromkeys((one.case.corpus, one.case.prefix) for one in judged):
        of_both = [j for j in judged if (j.case.corpus, j.case.prefix) == (corpus, prefix)]
        print_shares(corpus, prefix, of_both)
    for corpus in dict.fromkeys(one.case.corpus for one in judged):
        print_shares(corpus, "all", [one for one in judged if one.case.corpus == corpus])
    alone = sum(one.is_blamed_alone for one in judged)
    CASES.parent.mkdir(exist_ok=True)
    CASES.write_text(
        "".join(f"{case_line(one)}\n" for one in judged if is_amiss(one)), encoding="utf-8"
    )
    print(
        f"diagnosis: {len(judged)} mistakes in {seconds:.0f} s, {alone} blamed alone."
        f" What is not named is listed in {CASES}."
    )


def print_shares(corpus: str, prefix: str, judged: list[Judged]) -> None:
    """Print one row of the table."""
    found = shares(judged)
    named = f"{found.share_named:7.1%}" if found.asked else "      -"
    print(
        f"{corpus:12} {prefix:10} {found.answers:7} {found.asked:6} {named}"
        f" {found.share_misnamed:7.1%}"
    )


def is_amiss(judged: Judged) -> bool:
    """True if somebody else is blamed, or the mistake is not named, or named wrongly."""
    is_silent = judged.case.is_named and not judged.is_named
    return is_silent or judged.is_misnamed or not judged.is_blamed_alone


def case_line(judged: Judged) -> str:
    """One answer: what it may be called, what it was called."""
    true = " or ".join(sorted(judged.case.kinds)) or "nothing"
    return f"{judged.case.key}: true: {true}; said: {judged.said or 'nothing'}"


# --- what each rule earns

LEARNT_FROM = ("fault", "people open", "people kept", "public open")
"""The corpora that a sentence may earn its place in: not the public half that is kept apart."""

EARNS = 2
"""Mistakes that no other sentence names, for each sentence of the table."""


def print_earnings(words: set[str]) -> None:
    """List the rules that earn too little; with words, of one corpus or exercise alone."""
    chosen = [
        case
        for case in cases()
        if case.is_named and case.corpus in LEARNT_FROM
        if words <= {*case.corpus.split(), case.prefix}
    ]
    with ProcessPoolExecutor(mp_context=get_context("spawn"), initializer=_start) as pool:
        won = [*pool.map(_told_by, chosen, chunksize=8)]
    wins = Counter(sentence for sentence, _ in won)
    earned = Counter(sentence for sentence, is_alone in won if is_alone)
    every = table_of.table()
    taught = {_sentence(rule) for rule in every if rule.is_taught}
    for sentence in dict.fromkeys(map(_sentence, every)):
        if sentence not in taught and earned[sentence] < EARNS:
            print(f"{earned[sentence]} of {wins[sentence]:3}  {sentence}")
    told = len({*map(_sentence, every)})
    print(f"earnings: {len(every)} rules, {told} sentences, {len(chosen)} mistakes.")


def _sentence(rule: Rule) -> str:
    return f"[{rule.kind}] {rule.says}"


_RUNNERS: list[Runner] = []
_TOLD: dict[str, list[tuple[str, str]]] = {}
"""Of the answer at hand: for each gradient what it was told and might be, sentences and kinds."""


def _start() -> None:
    _RUNNERS.append(Runner(LIMITS))
    vars(diagnose)["findings"] = _noted


def _noted(search: Search, verdict: Verdict) -> Iterator[Edit | Explanation]:
    told = _TOLD[verdict.name] = []
    for found in findings(search, verdict):
        kind = found.kind if isinstance(found, Edit) else found[0]
        rule = found.rule if isinstance(found, Edit) else None
        told.append((_sentence(rule) if isinstance(rule, Rule) else "", kind))
        if len(told) == 1:
            first = found
        elif told[-1][0] != told[0][0]:
            break
    if told:
        yield first


def _told_by(case: Case) -> tuple[str, bool]:
    """The sentence that names a mistake, if one does, and whether nothing else would."""
    _TOLD.clear()
    diagnose.REMEMBERED.clear()
    grade_case(case, _RUNNERS[0])
    (sentence, kind), *others = _TOLD.get(case.wrong) or [("", "")]
    is_alone = not any(named in case.kinds for other, named in others if other != sentence)
    return (sentence, is_alone) if kind in case.kinds else ("", False)


if __name__ == "__main__":
    main()
