"""Six ways to train the network, beside the time of its six matrix products."""

from __future__ import annotations

from pathlib import Path

from grader.notebook.training.manual_step import write_backward
from grader.submission.read import read_submission
from makemore_data import build_splits, contestants, load_names, race, race_table
from tests.helpers.lecture_course import COURSE

SOLUTION = Path(__file__).parent.parent / "notebooks" / "solutions" / "04_manual_training.ipynb"


def measure() -> dict[str, float]:
    """Steps per second of each loop of notebook 4, with the solution in the student's place."""
    solution = write_backward(read_submission(SOLUTION, COURSE).cells)
    loops, absent = contestants("by hand, the solution's", solution)
    for sentence in absent:
        print(sentence)
    (X, Y), *_ = build_splits(load_names())
    return race(loops, X, Y)


def main() -> None:
    """Print the table."""
    print(race_table(measure()))


if __name__ == "__main__":
    main()
