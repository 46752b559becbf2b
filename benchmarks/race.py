"""Six ways to train the network, beside the time of its six matrix products."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from corpus.readers.lecture_course import COURSE, TRAINING
from grader.notebook.training.manual_step import write_backward
from grader.submission.read import read_submission
from makemore_data import build_splits, load_names
from makemore_data.training.solved.race import LIMIT, contestants, race

SOLUTION = Path(__file__).parent.parent / "notebooks" / "solutions" / "04_manual_training.ipynb"


def measure() -> dict[str, float]:
    """Steps per second of each loop of notebook 4, with the solution in the student's place."""
    solution = write_backward(TRAINING, read_submission(SOLUTION, COURSE).cells)
    loops = contestants("by hand, the solution's", solution, say=print)
    (X, Y), *_ = build_splits(load_names())
    return race(loops, X, Y)


def table(rates: Mapping[str, float]) -> str:
    """The result: steps per second, times the first, share of the limit."""
    first, limit = next(iter(rates.values())), rates[LIMIT]
    return "\n".join(
        f"race: {name:28s} {rate:9,.0f} steps per second, {rate / first:4.1f} times autograd's,"
        f" {rate / limit:4.0%} of the limit"
        for name, rate in rates.items()
    )


def main() -> None:
    """Print the table."""
    print(table(measure()))


if __name__ == "__main__":
    main()
