"""`python -m benchmarks.large_class.stages STAGE FOLDER`: what is measured, with nothing else."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.grade_command.goals import at_most
from grader.classroom.gradebook import comparison, comparison_text
from grader.classroom.gradebook.make_book import make_book
from grader.classroom.gradebook.rubric import Rubric
from grader.classroom.gradebook.write import render
from grader.classroom.intake.class_folder import ClassFolder
from grader.classroom.intake.class_reader import read_class
from grader.classroom.run.class_run import Run
from grader.classroom.run.grade_task import grade_task
from grader.classroom.run.pool import Pool
from grader.classroom.run.results import RESULTS, Results
from grader.program.course import built_in_course

GOAL_MEGABYTES = 500


@contextmanager
def stage(name: str) -> Iterator[None]:
    """Print what a stage took: seconds, what was read from files, and this process's peak."""
    start, used, read = time.perf_counter(), time.process_time(), _megabytes_read()
    yield
    seconds, used, peak = time.perf_counter() - start, time.process_time() - used, _peak()
    print(
        f"grade_large_class: {name}: {seconds:6.1f} s, {used:.1f} of them of the processor, "
        f"{_megabytes_read() - read:,.0f} MB read; "
        f"peak {peak:.0f} MB {at_most(peak, GOAL_MEGABYTES, ' MB')}",
        flush=True,
    )


def _megabytes_read() -> float:
    words = Path("/proc/self/io").read_text().split()
    return int(words[1 + words.index("rchar:")]) / 1e6


def _peak() -> float:
    words = Path("/proc/self/status").read_text().split()
    return int(words[1 + words.index("VmHWM:")]) / 1024


def go_on(folder: Path) -> None:
    """Go on with a run that was stopped after its last file; then write the gradebook."""
    folder /= "class"
    with stage("the folder listed"):
        class_folder = read_class(folder / "in", built_in_course(), folder / "roster.csv")
    path = folder / "out" / RESULTS
    with stage("the run gone on with"), Results(path, change=True) as results:
        _find_nothing_to_grade(class_folder, results)
        results.keep({item.id: item for item in class_folder.handed_in})
        results.export()
    write(folder, class_folder)


def write(folder: Path, class_folder: ClassFolder) -> None:
    """Write the gradebook."""
    with stage("the gradebook written"):
        render(make_book(class_folder, folder / "out" / RESULTS, Rubric()), folder / "out")


def _find_nothing_to_grade(class_folder: ClassFolder, results: Results) -> None:
    def make_pool() -> Pool:
        raise AssertionError("all is graded")

    settings = None  # only what is graded needs them
    run = Run(class_folder, settings, results, grade_task)  # type: ignore[arg-type]
    run.grade_all(make_pool, lambda tally: None)


def compare(folder: Path) -> None:
    """Compare the gradebook with another of the same students."""
    paths = (folder / name / "out" / RESULTS for name in ("class", "later"))
    with Results(next(paths)) as known, Results(next(paths), change=True) as results:
        # The same students and files: to write the later pages, too, would take minutes.
        results.write_book(person=known.book("person"), grade=known.book("grade"))
    with stage("two gradebooks compared"):
        books = [comparison.read_book(folder / name / "out") for name in ("class", "later")]
        comparison_text.as_text(comparison.compare(*books))


STAGES = {function.__name__: function for function in (go_on, compare)}

if __name__ == "__main__":
    STAGES[sys.argv[1]](Path(sys.argv[2]))
