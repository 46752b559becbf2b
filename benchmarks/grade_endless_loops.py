"""What endless loops in some answers cost the rest of a class."""

from __future__ import annotations

import argparse
import statistics
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.class_of_students import Class, write_class
from benchmarks.grade_command import at_most, grade


def main(arguments: Sequence[str] | None = None) -> None:
    """Grade a class with the loops and the same class without; print what they add."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=1_000)
    parser.add_argument("--share", type=float, default=0.05)
    parser.add_argument("--limit", type=float, default=10.0, help="seconds")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args(arguments)
    made = Class(options.size, loops=options.share)
    without = Class(options.size, loops=options.share, without_loops=True)
    looping = {f"s{number:05d}" for number in made.looping()}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for kind, one in (("without", without), ("with", made)):
            write_class(folder / kind, one)
        runs = [
            grade(folder / kind, folder / f"out-{kind}", jobs=options.jobs, timeout=options.limit)
            for kind in ("without", "with")
        ]
        verdicts = [run.verdicts() for run in runs]
    extra = runs[1].seconds - runs[0].seconds
    bound = len(looping) * options.limit / options.jobs
    print(
        f"grade_endless_loops: {options.size:,} submissions on {options.jobs} workers in "
        f"{runs[0].seconds:.1f} s; with {len(looping)} loops, {options.limit:g} s each, in "
        f"{runs[1].seconds:.1f} s: {extra:.1f} s more, {extra / bound:.3f} of loops x limit / "
        f"workers, {bound:.1f} s {at_most(extra / bound, 1)}"
    )
    # When the last loop begins, little else is left for the other workers to do.
    uneven = options.limit * (1 - 1 / options.jobs)
    print(
        f"grade_endless_loops: the last loop can leave the other workers idle, {uneven:.1f} s of "
        f"that; with those, {extra / (bound + uneven):.3f} {at_most(extra / (bound + uneven), 1)}"
    )
    ids = {line["id"] for line in verdicts[0].values() if line["student"] not in looping}
    same = sum(verdicts[0][one] == verdicts[1].get(one) for one in ids)
    print(
        f"grade_endless_loops: of the {len(ids)} others {same} have the same results as without "
        f"the loops {at_most(len(ids) - same, 0, ' differing')}"
    )
    before, after = (
        [line for line in found.values() if line["student"] in looping] for found in verdicts
    )
    flagged = sum(bool(line["flags"]) for line in after)
    print(
        f"grade_endless_loops: of the {len(looping)} with a loop {flagged} are flagged; they have "
        f"{_points(after):.1f} points on average, without the loop {_points(before):.1f}"
    )


def _points(lines: Sequence[Mapping[str, Any]]) -> float:
    return statistics.mean(line.get("score", 0) for line in lines) if lines else 0.0


if __name__ == "__main__":
    main()
