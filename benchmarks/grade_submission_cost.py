"""What one more submission of notebook 1 costs `grader grade`, in milliseconds of one core.

All of it counts, from reading the file to the gradebook, but for what a run costs however many
there are: two classes are graded, the larger with the smaller in it, and the difference is divided.
"""

from __future__ import annotations

import argparse
import random
import statistics
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.class_of_students import Class, write_class
from benchmarks.grade_command import at_most, grade
from benchmarks.students import Answers, only
from benchmarks.students.kinds import draw

GOAL_MILLISECONDS = 40

CLASSES: Mapping[str, Callable[[random.Random], Answers]] = {
    "a mixed class": draw,
    "right: lecture": only("right", "lecture"),
    "right: in_place": only("right", "in_place"),
    "right: einsum": only("right", "einsum"),
    "right: loops": only("right", "loops"),
    "one fault": only("one fault"),
    "several faults": only("several faults"),
    "half done": only("half done"),
    "blank": only("blank"),
}
JUDGED = ("a mixed class", "right: lecture")
"""Measured several times; the others, which only explain the first, once."""


@dataclass(frozen=True, slots=True)
class Cost:
    """Milliseconds of one more submission: of processors, and on the clock with one worker."""

    processor: float
    clock: float


def measure(
    answers: Callable[[random.Random], Answers], small: int, large: int, seed: int = 0
) -> Cost:
    """The difference between two classes on one worker, divided by the number of students."""
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for size in (small, large):
            notebooks = Path(folder) / f"class-{size}"
            write_class(notebooks, Class(size, seed, answers=answers))
            found.append(grade(notebooks, Path(folder) / f"out-{size}", jobs=1))
    few, many = found
    more = (large - small) / 1e3
    return Cost((many.processor - few.processor) / more, (many.seconds - few.seconds) / more)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the cost of each kind of submission."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--small", type=int, default=20)
    parser.add_argument("--large", type=int, default=120)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--only", choices=CLASSES, help="one kind of submission")
    options = parser.parse_args(arguments)
    for name, answers in CLASSES.items():
        if options.only not in (None, name):
            continue
        repeats = options.repeats if name in JUDGED else 1
        costs = [measure(answers, options.small, options.large, seed) for seed in range(repeats)]
        processor = statistics.median(cost.processor for cost in costs)
        clock = statistics.median(cost.clock for cost in costs)
        goal = f" {at_most(processor, GOAL_MILLISECONDS, ' ms')}" if name in JUDGED else ""
        print(
            f"grade_submission_cost: {name:15s} {processor:5.1f} ms of one core, "
            f"{clock:5.1f} ms on the clock with one worker{goal}",
            flush=True,
        )


if __name__ == "__main__":
    main()
