"""Six ways to train the network, beside the time of its six matrix products."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from grader.manual_step import write_backward
from grader.submission import read_submission
from makemore_data import (
    NoCompiler,
    autograd_loop,
    build_splits,
    compile_loop,
    lecture_backward,
    load_names,
    manual_loop,
    race,
    race_table,
    tuned_loop,
)
from makemore_data.compiled_loop import STEPS_A_CALL, Loop

SOLUTION = Path(__file__).parent.parent / "notebooks" / "solutions" / "04_manual_training.ipynb"


def measure() -> dict[str, float]:
    """Steps per second of each loop of notebook 4, with the solution in the student's place."""
    solution = write_backward(read_submission(SOLUTION).cells)
    loops: dict[str, Loop] = {
        "autograd": autograd_loop,
        "by hand, as in the lecture": partial(manual_loop, backward=lecture_backward),
        "by hand, the solution's": partial(manual_loop, backward=solution),
        "tuned": tuned_loop,
    }
    try:
        loops["tuned and compiled"] = compile_loop()
        loops[f"the same, {STEPS_A_CALL} steps a call"] = compile_loop(STEPS_A_CALL)
    except NoCompiler as trouble:
        print(trouble)
    (X, Y), *_ = build_splits(load_names())
    return race(loops, X, Y)


def main() -> None:
    """Print the table."""
    print(race_table(measure()))


if __name__ == "__main__":
    main()
