"""What Dask itself costs a submission: on the scheduler, in a worker, and in `grader grade`.

Everything is as in a run over a cluster, but for the grading: the workers answer at once, with the
line of a notebook that was really graded. So what is measured is how many workers one scheduler,
and one `grader grade`, can keep busy.
"""

from __future__ import annotations

import argparse
import importlib.util
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from benchmarks.class_of_students import Class, write_class
from benchmarks.grade_command import grade
from benchmarks.grade_two_workers import LEAN, cluster
from grader.classroom.intake.class_reader import read_class
from grader.classroom.run.class_run import Run
from grader.classroom.run.dask_pool import DaskPool
from grader.classroom.run.journal import Journal
from grader.classroom.run.line import Line, read_line
from grader.classroom.run.settings import Settings, installed_versions
from grader.classroom.run.task import Task
from grader.program.course import built_in_course
from grader.worker.terms import Limits

WORKERS = 2
SETTINGS = Settings(1, Limits(), "bwrap", installed_versions(), built_in_course())


def at_once(data: bytes, task: Task, settings: Settings) -> Line:
    """The line of another notebook, said of this one."""
    return replace(read_line(data), file=task.file)


def measure(folder: Path, line: bytes) -> tuple[float, float, float, float]:
    """Seconds of the clock, and of the scheduler's, the workers' and this process's processor."""
    from distributed import Client

    class_folder = read_class(folder, built_in_course())
    with cluster(WORKERS, LEAN) as address, Client(address, set_as_default=False) as client:

        def used() -> tuple[float, float, float, float]:
            workers = client.run(time.process_time).values()
            scheduler = client.run_on_scheduler(time.process_time)
            return time.perf_counter(), scheduler, sum(workers), time.process_time()

        with Journal(folder.with_name("results.jsonl")) as journal:
            run = Run(class_folder, SETTINGS, journal, partial(at_once, line))
            before = used()
            run.grade_all(lambda: DaskPool(address), lambda tally: None)
            clock, scheduler, workers, own = (
                after - begun for after, begun in zip(used(), before, strict=True)
            )
        return clock, scheduler, workers, own


def main(arguments: Sequence[str] | None = None) -> None:
    """Print milliseconds a submission."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=1000)
    options = parser.parse_args(arguments)
    if importlib.util.find_spec("distributed") is None:
        print("dask_scheduling: Dask is missing: pip install '.[dask]'.")
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_class(folder / "one", Class(1))
        graded = grade(folder / "one", folder / "out")
        line = (graded.out / "results.jsonl").read_bytes()
        write_class(folder / "class", Class(options.size))
        figures = measure(folder / "class", line)
    clock, scheduler, workers, own = (seconds / options.size * 1e3 for seconds in figures)
    print(
        f"dask_scheduling: {options.size:,} submissions, nothing graded: {scheduler:.1f} ms of the "
        f"scheduler's processor each, {workers:.1f} ms of the worker's, {own:.1f} ms of `grader "
        f"grade`; {clock:.1f} ms on the clock, {WORKERS} workers and all the rest on this machine"
    )


if __name__ == "__main__":
    main()
