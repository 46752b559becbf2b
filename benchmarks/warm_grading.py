"""What one more submission of notebook 1 costs a warm worker, by style of answer."""

from __future__ import annotations

import statistics
import time

from corpus.readers.exercise_text import read_cells, right_answers
from corpus.readers.lecture_course import ATOMIC
from grader.answer.parse import AnswerCell
from grader.execution.runner import Runner
from grader.grading.grade import grade_exercise

STYLES = ("lecture", "in_place", "einsum", "loops")
REPEATS = 15


def measure(runner: Runner, style: str, repeats: int = REPEATS) -> float:
    """Median seconds for all 26 gradients of a right answer: both checks, two hidden instances."""
    cells = [AnswerCell(grade_id, text) for grade_id, text in read_cells(right_answers()[style])]
    grade_exercise(ATOMIC, cells, runner)
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        grade_exercise(ATOMIC, cells, runner)
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def main() -> None:
    """Print milliseconds for each style, and their ratio to the first."""
    with Runner() as runner:
        seconds = {style: measure(runner, style) for style in STYLES}
    first = seconds[STYLES[0]]
    for style, value in seconds.items():
        print(f"warm_grading: {style:9s} {value * 1e3:6.1f} ms, {value / first:.1f} of the first")


if __name__ == "__main__":
    main()
