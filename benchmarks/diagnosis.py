"""How often the first diagnosis names the mistake, over every answer with one mistake in it."""

from __future__ import annotations

import sys
import time
from pathlib import Path

from corpus.promises import Judged, mistakes, shares
from corpus.verdicts import cases, grade_cases

CASES = Path(__file__).parent.parent / "build" / "diagnosis.txt"
"""Where every mistake that is misnamed, unnamed or blamed on another is listed."""


def main(arguments: list[str] | None = None) -> None:
    """Print a row for each corpus and exercise; with words, of these alone (`people ex3`)."""
    words = {*(sys.argv[1:] if arguments is None else arguments)}
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


if __name__ == "__main__":
    main()
