"""A run: every file handed in gets its line, whatever happens to the processes that grade."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Future
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Protocol

from grader.bulk.failures import CannotGrade, Died, Displaced
from grader.bulk.journal import Journal
from grader.bulk.line import Line, error_line, run_member
from grader.bulk.settings import Settings
from grader.bulk.tally import Tally
from grader.bulk.task import Task, make_task
from grader.intake import ClassFolder
from grader.printable import printable

GLANCE_SECONDS = 0.25
"""How often to look after the pool, and to refresh what is shown, when nothing comes back."""

MOST_DEATHS = 2
"""So often may a process die of a task among others; then the task is graded alone, once."""

Grade = Callable[[Task, Settings], Line]


class Pool(Protocol):
    """What a run needs of a pool: a `concurrent.futures.Executor` that can be looked after."""

    @property
    def capacity(self) -> int:
        """So many tasks keep it busy; it is never given more."""

    def look_after(self) -> None:
        """Mend what can be mended; raises CannotGrade for the rest."""

    def submit(self, fn: Grade, task: Task, settings: Settings, /) -> Future[Line]:
        """As an Executor does; the future raises Died or Displaced when a process is lost."""

    def shutdown(self, *, cancel_futures: bool) -> None:
        """End what is under way."""


class Stop(Exception):
    """The run was told to end."""


class Run:
    """One run over a class.

    Args:
        folder: what was handed in.
        settings: with what it is graded.
        journal: where the lines go; what it holds already is not graded again.
        grade: `grade_task`, or what a test has in its place.
    """

    def __init__(
        self, folder: ClassFolder, settings: Settings, journal: Journal, grade: Grade
    ) -> None:
        self._folder, self._settings = folder, settings
        self._journal, self._grade = journal, grade
        self.tally = Tally(len(folder.handed_in))
        self._events: SimpleQueue[Future[Line] | None] = SimpleQueue()
        self._stopped = False
        self._under_way: dict[Future[Line], Task] = {}
        self._again: deque[Task] = deque()
        self._deaths: dict[str, int] = {}
        self._alone: list[Task] = []
        self._tried_alone: set[str] = set()

    def stop(self) -> None:
        """End the run before its next line; a signal handler may call this."""
        self._stopped = True
        self._events.put(None)

    def grade_all(self, make_pool: Callable[[], Pool], show: Callable[[Tally], None]) -> None:
        """Grade what is not graded yet.

        Args:
            make_pool: called once, and only where there is something to grade.
            show: called again and again with how far the run is.

        Raises:
            Stop: after `stop`.
            CannotGrade: the pool cannot go on.
            OSError: the journal cannot be written.
        """
        tasks = self._tasks(show)
        first = next(tasks, None)
        if first is not None:
            self._again.append(first)
            pool = make_pool()
            try:
                self._work(pool, tasks, show)
                while self._alone:
                    self._again.append(self._alone.pop())
                    self._work(pool, tasks, show)
            finally:
                pool.shutdown(cancel_futures=True)
        self._journal.sync()
        show(self.tally)

    def _tasks(self, show: Callable[[Tally], None]) -> Iterator[Task]:
        """What is to be graded, read when it is asked for."""
        for handed_in in self._folder.handed_in:
            self._heed_stop()
            task = make_task(handed_in, self._folder.root)
            entry = self._journal.entries.get(task.id)
            if entry is not None and entry.speaks_of(task.sha256, task.refusal):
                self.tally.count(entry, kept=True)
                show(self.tally)
            elif task.refusal:
                run = run_member(self._settings, 0.0)
                self._record(error_line(task, "unreadable", task.refusal, run))
            else:
                yield task

    def _work(self, pool: Pool, tasks: Iterator[Task], show: Callable[[Tally], None]) -> None:
        while True:
            while len(self._under_way) < pool.capacity:
                task = self._again.popleft() if self._again else next(tasks, None)
                if task is None:
                    break
                future = pool.submit(self._grade, task, self._settings)
                self._under_way[future] = task
                future.add_done_callback(self._events.put)
            if not self._under_way:
                return
            with suppress(Empty):
                future_or_stop = self._events.get(timeout=GLANCE_SECONDS)
                if future_or_stop is not None:
                    self._take(future_or_stop)
            self._heed_stop()
            pool.look_after()
            show(self.tally)

    def _heed_stop(self) -> None:
        if self._stopped:
            raise Stop

    def _take(self, future: Future[Line]) -> None:
        task = self._under_way.pop(future)
        try:
            line = future.result()
        except Displaced:
            self._again.append(task)
        except Died as died:
            self._try_again(task, died.times)
        except CannotGrade:
            raise
        except (CancelledError, Exception) as error:  # `grade` makes a line of its own mistakes
            raise CannotGrade(
                f"The pool has failed ({type(error).__name__}: {error}). What is graded is kept: "
                "the same command goes on from there."
            ) from error
        else:
            self._record(line)

    def _try_again(self, task: Task, times: int) -> None:
        """What ends the process that grades it is tried again, then alone, then no more."""
        deaths = self._deaths[task.id] = self._deaths.get(task.id, 0) + times
        if deaths < MOST_DEATHS:
            self._again.append(task)
        elif task.id not in self._tried_alone:
            self._tried_alone.add(task.id)
            self._alone.append(task)
        else:
            run = run_member(self._settings, 0.0)
            self._record(error_line(task, "killed", _killed(task), run))

    def _record(self, line: Line) -> None:
        self.tally.count(self._journal.append(line))


def _killed(task: Task) -> str:
    return (
        f"{printable(task.file)} could not be graded: each of the processes that tried, the last "
        "with nothing else at work, ended or hung before it was done. A human should look at it."
    )
