"""What `grader grade` does once it knows what is asked for."""

from __future__ import annotations

import secrets
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

from grader.commands import exit_codes
from grader.commands.grade_speech import display, say_stopped, summary, writing
from grader.commands.speech import complain, say
from grader.commands.timeout import limits
from grader.printable import printable

if TYPE_CHECKING:
    from grader.bulk.display import Show
    from grader.bulk.out_folder import Asked
    from grader.bulk.run import Pool, Run
    from grader.bulk.settings import Settings

SEED_BITS = 31


@dataclass(frozen=True, slots=True)
class Order:
    """What the instructor asks for."""

    folder: Path
    out: Path
    roster: Path | None
    due: datetime | None
    rubric: Path | None
    jobs: int | None
    scheduler: str | None
    seed: int | None
    timeout: float | None
    sandbox: str
    quiet: bool


def grade_class(order: Order) -> int:
    """Grade, and return the exit code; what is in the way is said in a sentence."""
    try:
        return _grade_or_refuse(order)
    except ModuleNotFoundError as error:
        complain(
            f"To grade a class, {error.name} is needed, and it is missing: install it with "
            "`pip install 'backprop-ninja[grade]'`."
        )
    except OSError as error:
        where = printable(str(error.filename or order.out))
        complain(
            f"{where}: {(error.strerror or str(error)).lower()}. What is graded so far is kept: "
            "mend that, and give the same command again."
        )
    return exit_codes.UNREADABLE


def _grade_or_refuse(order: Order) -> int:
    from grader.bulk.failures import CannotGrade
    from grader.bulk.journal import BrokenJournal
    from grader.bulk.out_folder import UnfitFolder
    from grader.gradebook import UnreadableResults, UnusableRubric
    from grader.intake import UnreadableFolder
    from grader.sandbox import NoSandbox

    refusals = (
        *(BrokenJournal, CannotGrade, NoSandbox, UnfitFolder),
        *(UnreadableFolder, UnreadableResults, UnusableRubric),
    )
    try:
        return _grade(order)
    except refusals as error:
        complain(str(error))
        return exit_codes.UNREADABLE


def _grade(order: Order) -> int:
    from grader.bulk.journal import Journal
    from grader.bulk.out_folder import (
        RESULTS,
        claimed,
        has_results,
        refuse_foreign,
        refuse_misplaced,
        settle,
        write_run,
    )
    from grader.bulk.run import Run
    from grader.bulk.task import grade_task, whose_of
    from grader.gradebook import read_rubric, write_gradebook
    from grader.intake import read_class
    from grader.sandbox import Sandbox, require

    points = read_rubric(order.rubric) if order.rubric is not None else None
    refuse_misplaced(order.folder, order.out)
    refuse_foreign(order.out)
    if order.scheduler is None:  # a Dask worker says so itself
        require(Sandbox(order.sandbox))
    class_folder = read_class(order.folder, order.roster, order.due)
    for notice in class_folder.notices:
        complain(notice)
    with claimed(order.out):
        settings = settle(order.out, _asked(order), _fresh(order))
        if not has_results(order.out):
            write_run(order.out, settings, class_folder.convention)
        with Journal(order.out / RESULTS) as journal:
            journal.refuse_strangers(item.id for item in class_folder.handed_in)
            run = Run(class_folder, settings, journal, grade_task)
            began = time.monotonic()
            with _until_told(run) as told, display(order.quiet) as show:
                _to_the_end(run, order, settings, show)
            if told:
                say_stopped(run.tally)
                return exit_codes.INTERRUPTED if told[0] == signal.SIGINT else 128 + told[0]
            seconds = time.monotonic() - began
            by_id = {item.id: item for item in class_folder.handed_in}
            journal.settle(by_id, lambda key: whose_of(by_id[key], class_folder.root))
        with writing(order.quiet):
            book = write_gradebook(class_folder, order.out / RESULTS, points, order.out)
    if not order.quiet:
        say(summary(settings, class_folder, run.tally, seconds))
        say(f"The gradebook: {printable(str(book.index))}, and tables beside report/.\n")
    return exit_codes.PASSED


def _asked(order: Order) -> Asked:
    from grader.bulk.out_folder import Asked

    asked = limits(order.timeout)
    seconds = (asked.statement_seconds, asked.total_seconds) if order.timeout is not None else None
    return Asked(order.seed, seconds, order.sandbox)


def _fresh(order: Order) -> Settings:
    """The settings of a new gradebook."""
    from grader.bulk.settings import Settings, installed_versions

    bounds = limits(order.timeout)
    return Settings(
        # The course is public: whoever knew the seed could write down the hidden values' results.
        seed=order.seed if order.seed is not None else secrets.randbits(SEED_BITS),
        statement_seconds=bounds.statement_seconds,
        total_seconds=bounds.total_seconds,
        memory_bytes=bounds.memory_bytes,
        sandbox=order.sandbox,
        versions=installed_versions(),
    )


def _to_the_end(run: Run, order: Order, settings: Settings, show: Show) -> None:
    from grader.bulk.run import Stop

    with suppress(Stop):
        run.grade_all(lambda: _make_pool(order, settings), show)


def _make_pool(order: Order, settings: Settings) -> Pool:
    from grader.bulk.task import get_ready

    if order.scheduler is not None:
        from grader.bulk.dask_pool import DaskPool

        return DaskPool(order.scheduler)
    from grader.bulk.local_pool import LocalPool, usable_cores

    return LocalPool(
        order.jobs or usable_cores(),
        ready=partial(get_ready, settings),
        patience=settings.task_seconds,
        preload="grader.bulk.marking",
    )


@contextmanager
def _until_told(run: Run) -> Iterator[list[int]]:
    """Let Ctrl-C, a closed terminal and a polite kill end a run between two lines.

    The list holds the signal, if there was one. At the second one, nothing is waited for.
    """
    told: list[int] = []

    def stop(number: int, _: FrameType | None) -> None:
        told.append(number)
        run.stop()
        if len(told) > 1:
            raise KeyboardInterrupt

    names = ("SIGINT", "SIGTERM", "SIGHUP")
    signals = [getattr(signal, name) for name in names if hasattr(signal, name)]
    before = [signal.signal(number, stop) for number in signals]
    try:
        yield told
    finally:
        for number, handler in zip(signals, before, strict=True):
            signal.signal(number, handler)
