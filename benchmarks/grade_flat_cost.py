"""What a submission costs in classes of 10 to 10,000, and how much memory the command needs.

The classes have the same share of everything: each ten students start from the same ten answers,
in their own words. While the largest class is graded, the others are graded again and again beside
it, one worker each: these machines are faster at one minute than at the next.

A start costs as much as two hundred submissions, give or take ten: that is read off while the
lines come. Before the students that count there are some on whom the worker gets warm, and behind
them some that keep it busy until the last that counts is done. What comes before those lines, the
reading of the folder, and what comes after, the gradebook, is compared with that of a class without
the students that count; in small classes that cannot be seen, and is taken from a larger one.
"""

from __future__ import annotations

import argparse
import itertools
import statistics
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from benchmarks.class_of_students import Class, write_class
from benchmarks.grade_command import Graded, at_most, grade

CYCLE = 10
BEFORE = 2 * CYCLE
BEHIND = CYCLE
SIZES = (10, 100, 1_000, 10_000)
EACH_TURN = {0: 2, 10: 3, 100: 2}
"""Small classes are graded more often: a few submissions say little."""
LEAST_AROUND = 1_000
GOAL_PERCENT = 15
GOAL_MEGABYTES = 50


@dataclass(frozen=True, slots=True)
class Found:
    """Of a class: milliseconds a submission, of processors and on the clock; the parent's peak.

    `around` is the part of `processor` that comes before the first lines and after the last; it was
    measured in a class of `around_of`. `runs` is how many these are the means of.
    """

    processor: float
    around: float
    around_of: int
    clock: float
    megabytes: float
    runs: int


def measure(sizes: Sequence[int]) -> Mapping[int, Found]:
    """The means of some runs; the largest class's one run goes on beside all the others."""
    *others, largest = sorted(sizes)
    runs = defaultdict[int, list[Graded]](list)
    with tempfile.TemporaryDirectory() as name, ProcessPoolExecutor(1) as beside:
        folder = Path(name)
        for size in (0, *sizes):
            write_class(folder / f"{size}", Class(BEFORE + size + BEHIND, cycle=CYCLE))
        large = beside.submit(_grade, folder, largest, 0)
        for turn, size in _turns([0, *others]):
            run = _grade(folder, size, turn)
            if large.done() and {0, *others} <= runs.keys():  # it had the machine to itself
                break
            runs[size].append(run)
        runs[largest].append(large.result())
    seen = [size for size in others if size >= LEAST_AROUND] + [largest]
    return {size: _costs(runs, size, next(s for s in seen if s >= size)) for size in sorted(sizes)}


def _turns(sizes: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Numbers and sizes without end, the small ones more often."""
    for turn in itertools.count():
        for size in sizes:
            for again in range(EACH_TURN.get(size, 1)):
                yield 10 * turn + again, size


def _grade(folder: Path, size: int, turn: int) -> Graded:
    lines = {BEFORE, BEFORE + size, BEFORE + size + BEHIND}
    return grade(folder / f"{size}", folder / f"out-{size}-{turn}", jobs=1, moments=lines)


def _costs(runs: Mapping[int, Sequence[Graded]], size: int, around_of: int) -> Found:
    pairs = [(run.moments[BEFORE], run.moments[BEFORE + size]) for run in runs[size]]
    processor = statistics.fmean(last.processor - first.processor for first, last in pairs)
    clock = statistics.fmean(last.seconds - first.seconds for first, last in pairs)
    around = (_seconds_around(runs[around_of]) - _seconds_around(runs[0])) / around_of
    return Found(
        (processor / size + around) * 1e3,
        around * 1e3,
        around_of,
        clock / size * 1e3,
        max(run.memory for run in runs[size]) / 2**20,
        len(runs[size]),
    )


def _seconds_around(runs: Sequence[Graded]) -> float:
    """Of processors, before the first lines and after the last."""
    return statistics.fmean(
        run.processor - run.moments[max(run.moments)].processor + run.moments[BEFORE].processor
        for run in runs
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a line for each size, then how much they differ."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    options = parser.parse_args(arguments)
    found = measure(options.sizes)
    for size, one in found.items():
        print(
            f"grade_flat_cost: {size:6,d} submissions, {_times(one.runs)}: "
            f"{one.processor:5.1f} ms of processors each, {one.around:.1f} of them for the folder "
            f"and the gradebook{_where(size, one)}, and {one.clock:5.1f} ms on the clock with one "
            f"worker; parent's peak {one.megabytes:.0f} MB"
        )
    costs = [one.processor for one in found.values()]
    spread = (max(costs) / min(costs) - 1) * 100
    print(
        f"grade_flat_cost: from {min(costs):.1f} to {max(costs):.1f} ms, {spread:.0f} % more "
        f"{at_most(spread, GOAL_PERCENT, ' %')}"
    )
    largest, base = max(found), 100 if 100 in found else min(found)
    grown = found[largest].megabytes - found[base].megabytes
    print(
        f"grade_flat_cost: the parent's peak with {largest:,} is {grown:+.0f} MB beside the class "
        f"of {base:,} {at_most(grown, GOAL_MEGABYTES, ' MB')}"
    )


def _times(runs: int) -> str:
    return "once" if runs == 1 else f"{runs} times"


def _where(size: int, found: Found) -> str:
    return "" if size == found.around_of else f" (as in the class of {found.around_of:,})"


if __name__ == "__main__":
    main()
