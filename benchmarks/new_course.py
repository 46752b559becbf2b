"""What `grader new` makes of forward functions: solutions, notebooks, mistakes with a name."""

from __future__ import annotations

import io
import multiprocessing
import os
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path

from corpus.readers.any_exercise import is_right, variants
from corpus.readers.measure import LIMITS, Measured, Result, case_lines, judge_answer, shares
from corpus.readers.one_fault import spread
from grader.authoring.course import Layout, read_notebook
from grader.authoring.dev_check import build_and_check
from grader.authoring.draft.write import write_course
from grader.authoring.source import sources_of
from grader.execution.runner import Runner
from grader.program.course import read_course
from grader.program.exercises import Exercise, load_exercises
from grader.verdict import Outcome

FOLDER = Path(__file__).parent / "forward_functions"
FUNCTIONS = sorted(path.stem for path in FOLDER.glob("[!_]*.py"))

LEAST_NAMED, MOST_MISNAMED = 0.95, 0.01
"""The goals: shares of the mistakes. Every one is to be blamed on its gradient alone."""

MOST_VARIANTS = 40
"""How many mistakes are put into the solution of a function."""

EDITS: Mapping[str, Sequence[tuple[str, str]]] = {
    "attention_with_mask": (
        ('    mask: Annotated[Tensor, "t, t < 2"],\n', ""),
        (
            "    scores = q",
            "    ones = torch.ones(q.shape[1], q.shape[1], dtype=torch.int64)\n    scores = q",
        ),
        ("masked_fill(mask == 0", "masked_fill(ones.tril() == 0"),
    ),
    "conv1d_by_unfold": (("    return out\n", "    loss = (out**2).sum()\n    return loss\n"),),
}
"""What an author changes after `grader new` or `grader build` has said what is wrong.

A mask drawn from its annotation has rows in which nothing may be seen, whose gradients are NaN. The
convolution returns a tensor whose length no size names, so that no gradient can arrive at it.
"""


@dataclass(frozen=True, slots=True)
class Made:
    """What came of one function.

    Of its `gradients` so many are `derived`, and so many solutions have `passed`. `complaints` are
    what `grader build` says: nothing where the notebooks run, all solutions pass and the blank is
    to do. `measured` are one-fault variants of the solution.
    """

    function: str
    gradients: int
    derived: int
    passed: int
    complaints: tuple[str, ...]
    measured: tuple[Measured, ...]

    @property
    def row(self) -> str:
        """What the table shows of it."""
        build = "in order" if not self.complaints else "to mend"
        mark = " *" if self.function in EDITS else ""
        done = f"{self.gradients} | {self.derived} | {self.passed} | {build}"
        return f"| {self.function}{mark} | {done} | {_cells(self.measured)} |"


def make(function: str, most: int = MOST_VARIANTS) -> Made:
    """Make a course of one function, build it, and grade one-fault variants of its solution."""
    with tempfile.TemporaryDirectory() as folder, Runner(LIMITS) as runner:
        layout, exercise = new_course(function, Path(folder))
        with redirect_stdout(io.StringIO()):  # it says which notebooks it wrote
            complaints = build_and_check(layout, exercise.notebook, runner)
        right = solution(layout, exercise)
        verdicts = judge_answer(exercise, right, runner)
        return Made(
            function,
            gradients=len(exercise.gradients),
            derived=len(exercise.gradients) - right.count(" = None\n"),
            passed=sum(verdict.outcome is Outcome.PASS for verdict in verdicts),
            complaints=tuple(complaints),
            measured=measure(exercise, right, runner, most),
        )


def measure(exercise: Exercise, right: str, runner: Runner, most: int) -> tuple[Measured, ...]:
    """Grade at most so many one-fault variants of a right answer, as varied as can be."""
    faults = [f for f in variants(exercise, right) if not is_right(exercise, f)]
    return tuple(
        Measured(fault, judge_answer(exercise, fault.source, runner))
        for fault in spread(faults, most)
    )


def new_course(function: str, folder: Path) -> tuple[Layout, Exercise]:
    """What `grader new` writes for a function, edited as its author does."""
    text = (FOLDER / f"{function}.py").read_text(encoding="utf-8")
    for before, after in EDITS.get(function, ()):
        assert text.count(before) == 1, before
        text = text.replace(before, after)
    file = folder / f"{function}.py"
    file.write_text(text, encoding="utf-8")
    write_course(file, folder / function)
    course = read_course(folder / function)
    (exercise,) = load_exercises(course)
    return Layout.of(course), exercise


def solution(layout: Layout, exercise: Exercise) -> str:
    """The answer cells with their solutions, as one text."""
    path = layout.sources / f"{exercise.notebook}.py"
    return "\n".join(sources_of("answer", read_notebook(path, layout=layout).cells)) + "\n"


def _cells(measured: Sequence[Measured]) -> str:
    found = shares(measured)
    silent = sum(m.result in (Result.SILENT, Result.VAGUE) for m in measured)
    counts = (found.faults, found.alone, found.asked, found.right, silent, found.wrong)
    return " | ".join(map(str, counts))


def table(made: Sequence[Made]) -> str:
    """A row for each function and one for all, in Markdown."""
    every = [one for each in made for one in each.measured]
    counts = (sum(getattr(m, what) for m in made) for what in ("gradients", "derived", "passed"))
    in_order = sum(not each.complaints for each in made)
    totals = " | ".join(map(str, [*counts, f"{in_order} in order"]))
    return "\n".join(
        [
            "| function | gradients | derived | pass | build | mistakes | blamed alone"
            " | with a name | named | silent | wrong |",
            "| --- |" + " --- |" * 10,
            *(each.row for each in made),
            f"| all | {totals} | {_cells(every)} |",
            "",
            "* edited as `grader new` or `grader build` asks: see EDITS.",
        ]
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table and every case that did not go well; 1 where a goal is missed.

    With names of functions, only these.
    """
    functions = [*(sys.argv[1:] if arguments is None else arguments)] or FUNCTIONS
    start = time.perf_counter()
    # Spawned, for a fork of a process with torch's threads in it may hang.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(os.cpu_count(), context) as pool:
        made = list(pool.map(make, functions))
    seconds = time.perf_counter() - start
    every = [one for each in made for one in each.measured]
    print("\n".join(case_lines(every)))
    for each in made:
        for complaint in each.complaints:
            print(f"{each.function}: {complaint}")
    print(table(made))
    found = shares(every)
    print(
        f"new_course: {len(made)} functions, {found.faults} mistakes in {seconds:.0f} s: blamed"
        f" alone {found.blamed_alone:.1%} (goal: 100 %), first diagnosis right {found.named:.1%}"
        f" ({LEAST_NAMED:.0%}), wrong {found.misnamed:.1%} (at most {MOST_MISNAMED:.0%})."
    )
    return 0 if is_met(made) else 1


def is_met(made: Sequence[Made]) -> bool:
    """True where every course is right and the mistakes are blamed and named as they should be."""
    found = shares([one for each in made for one in each.measured])
    return (
        all(m.gradients == m.derived == m.passed and not m.complaints for m in made)
        and found.alone == found.faults
        and found.named >= LEAST_NAMED
        and found.misnamed <= MOST_MISNAMED
    )


if __name__ == "__main__":
    sys.exit(main())
