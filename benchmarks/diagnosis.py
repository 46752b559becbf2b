"""How often the first diagnosis names the mistake, over a corpus of one-fault variants."""

from __future__ import annotations

import sys
import time
from pathlib import Path

from corpus.readers.measure import case_lines, measure, report_lines, shares
from corpus.readers.one_fault import corpus, held_out

CASES = Path(__file__).parent.parent / "build" / "diagnosis.txt"
"""Where every case that is silent, wrong or blamed on another is listed."""


def main(arguments: list[str] | None = None) -> None:
    """Print the tables; with --cases, every case that did not go well too.

    With an exercise's prefix ("ex3"), only its faults; with --held-out, faults that the corpus
    does not have, to see whether the grader was only fitted to it.
    """
    words = sys.argv[1:] if arguments is None else arguments
    prefixes = [word for word in words if not word.startswith("-")]
    chosen = held_out() if "--held-out" in words else corpus()
    faults = [f for f in chosen if not prefixes or f.prefix in prefixes]
    start = time.perf_counter()
    measured = measure(faults)
    seconds = time.perf_counter() - start
    print("\n".join(report_lines(measured)))
    cases = "\n".join(case_lines(measured))
    if "--cases" in words:
        print(cases)
    CASES.parent.mkdir(exist_ok=True)
    CASES.write_text(f"{cases}\n", encoding="utf-8")
    found = shares(measured)
    print(
        f"diagnosis: {found.faults} faults in {seconds:.0f} s: blamed alone"
        f" {found.blamed_alone:.1%} (goal: 100 %), first diagnosis right {found.named:.1%}"
        f" (97 %), wrong {found.misnamed:.1%} (at most 0.3 %). The cases are in {CASES}."
    )


if __name__ == "__main__":
    main()
