"""What a submission costs in classes of 10 to 10,000, and how much memory the command needs.

The classes have the same share of everything: each ten students start from the same ten answers,
in their own words. What a run costs however many there are, with each worker's first look at
those ten answers, is measured as a class of its own, and subtracted.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.class_of_students import Class, write_class
from benchmarks.grade_command import Graded, at_most, grade

CYCLE = 10
STARTING = 2 * CYCLE
SIZES = (10, 100, 1_000, 10_000)
REPEATS = {10: 9, 100: 5, 1_000: 2}
"""Small classes are graded more often: they drown in what start-up varies by."""
GOAL_PERCENT = 15
GOAL_MEGABYTES = 50


@dataclass(frozen=True, slots=True)
class Found:
    """Of a class: milliseconds a submission, of processors and on the clock; the parent's peak."""

    size: int
    processor: float
    clock: float
    megabytes: float


def measure(size: int, repeats: int, jobs: int) -> Found:
    """The median of some runs, each beside a run of the starting class."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        runs = []
        for kind, students in (("start", STARTING), ("class", STARTING + size)):
            write_class(folder / kind, Class(students, cycle=CYCLE))
        for number in range(repeats):
            start, whole = (
                grade(folder / kind, folder / f"{kind}-{number}", jobs=jobs)
                for kind in ("start", "class")
            )
            runs.append((start, whole))
    return Found(
        size,
        statistics.median(
            (whole.processor - start.processor) / size * 1e3 for start, whole in runs
        ),
        statistics.median((whole.seconds - start.seconds) / size * 1e3 for start, whole in runs),
        max(_megabytes(whole) for _, whole in runs),
    )


def _megabytes(run: Graded) -> float:
    return run.memory / 2**20


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a line for each size, then how much they differ."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--repeats", type=int, help="for every size")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args(arguments)
    found = []
    for size in options.sizes:
        one = measure(size, options.repeats or REPEATS.get(size, 1), options.jobs)
        found.append(one)
        print(
            f"grade_flat_cost: {size:6,d} submissions: {one.processor:5.1f} ms of processors and "
            f"{one.clock:5.1f} ms on the clock each; parent's peak {one.megabytes:.0f} MB",
            flush=True,
        )
    costs = [one.processor for one in found]
    spread = (max(costs) / min(costs) - 1) * 100
    print(
        f"grade_flat_cost: from {min(costs):.1f} to {max(costs):.1f} ms, {spread:.0f} % more "
        f"{at_most(spread, GOAL_PERCENT, ' %')}"
    )
    by_size = {one.size: one.megabytes for one in found}
    base = by_size.get(100, found[0].megabytes)
    grown = found[-1].megabytes - base
    print(
        f"grade_flat_cost: the parent's peak with {found[-1].size:,} is {grown:+.0f} MB beside "
        f"the class of {100 if 100 in by_size else found[0].size:,} "
        f"{at_most(grown, GOAL_MEGABYTES, ' MB')}"
    )


if __name__ == "__main__":
    main()
