"""A run: every submitted file gets its line, whatever happens to the processes that grade."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Future
from contextlib import suppress
from dataclasses import dataclass, replace
from queue import Empty, SimpleQueue

from grader.classroom.intake.class_folder import ClassFolder, HandedIn
from grader.classroom.run.line import Line, error_line, provenance
from grader.classroom.run.pool import CannotGrade, Died, Displaced, Grade, Pool
from grader.classroom.run.read_file import read_file, stamp_of
from grader.classroom.run.results import Results
from grader.classroom.run.settings import Settings
from grader.printable import printable

GLANCE_SECONDS = 0.25
"""How often, in seconds, to look after the pool and refresh the display if no result arrives."""

MOST_DEATHS = 2
"""How often a process may die of a file beside others, before the file is graded alone, once."""


@dataclass(slots=True)
class Tally:
    """Counts of the submitted files.

    `kept` files were graded by an earlier run. `graded` and `unreadable` add up to all files that
    are done, including those kept. `reason` is a sentence that says why a file is unreadable, and
    `running` are the files that are being graded at this moment.
    """

    total: int
    kept: int = 0
    graded: int = 0
    unreadable: int = 0
    reason: str = ""
    running: tuple[str, ...] = ()

    @property
    def last(self) -> tuple[str, ...]:
        """The running files once no other waits, when a rate says nothing about the time left."""
        return self.running if self.done + len(self.running) >= self.total else ()

    @property
    def done(self) -> int:
        """The number of files that have their line."""
        return self.graded + self.unreadable

    @property
    def fresh(self) -> int:
        """The number of files that this run has done itself."""
        return self.done - self.kept

    def count(self, error: str | None, kept: bool = False) -> None:
        """Count a file that is done."""
        self.kept += kept
        self.graded += error is None
        self.unreadable += error is not None
        self.reason = self.reason or error or ""


class Stop(Exception):
    """The run was asked to end."""


class Run:
    """One run over a class.

    Args:
        folder: the submissions.
        settings: the settings for grading.
        results: where the lines go. Files that have a line are not graded again.
        grade: `grade_task`, or a test's replacement for it.
    """

    def __init__(
        self, folder: ClassFolder, settings: Settings, results: Results, grade: Grade
    ) -> None:
        self._folder, self._settings = folder, settings
        self._results, self._grade = results, grade
        self.tally = Tally(len(folder.handed_in))
        self._events: SimpleQueue[Future[Line] | None] = SimpleQueue()
        self._stopped = False
        self._under_way: dict[Future[Line], HandedIn] = {}
        self._next: deque[HandedIn] = deque()
        self._deaths: Counter[str] = Counter()
        self._deadly: list[HandedIn] = []
        self._one_by_one = False

    def stop(self) -> None:
        """End the run before its next line. A signal handler may call this."""
        self._stopped = True
        self._events.put(None)

    def grade_all(self, make_pool: Callable[[], Pool], show: Callable[[Tally], None]) -> None:
        """Grade the files that are not graded yet.

        Args:
            make_pool: called once, and only if there is something to grade.
            show: called repeatedly with the progress of the run.

        Raises:
            Stop: after `stop`.
            CannotGrade: the pool cannot go on.
            OSError: the results cannot be written.
        """
        files = self._ungraded(show)
        first = next(files, None)
        if first is not None:
            self._next.append(first)
            pool = make_pool()
            try:
                self._work(pool, files, show)
                self._one_by_one = True
                for file in self._deadly:
                    self._next.append(file)
                    self._work(pool, files, show)
            finally:
                pool.shutdown(cancel_futures=True)
        show(self.tally)

    def _ungraded(self, show: Callable[[Tally], None]) -> Iterator[HandedIn]:
        """The files to grade, each read on demand."""
        for handed_in in self._folder.handed_in:
            self._heed_stop()
            known = self._results.unchanged(handed_in.id, stamp_of(handed_in, self._folder.root))
            file = handed_in
            if known is None:
                file = read_file(handed_in, self._folder.root)
                known = self._results.known(file)
            if known is not None:
                self.tally.count(*known, kept=True)
                show(self.tally)
            elif file.reason:
                self._fail(file, "unreadable", file.reason)
            else:
                yield file

    def _work(self, pool: Pool, files: Iterator[HandedIn], show: Callable[[Tally], None]) -> None:
        self._hand_out(pool, files)
        while self._under_way:
            self._heed_stop()
            done: Future[Line] | None = None
            with suppress(Empty):
                done = self._events.get(timeout=GLANCE_SECONDS)
            if done is not None:
                file = self._under_way.pop(done)
                try:  # before the line is written: no process is to wait for the disk
                    self._hand_out(pool, files)
                finally:
                    self._take(file, done)
            pool.look_after()
            self._hand_out(pool, files)
            if not self._next and (ahead := next(files, None)):
                self._next.append(ahead)  # read while the processes are at work
            self.tally.running = tuple(file.path for file in self._under_way.values())
            show(self.tally)

    def _hand_out(self, pool: Pool, files: Iterator[HandedIn]) -> None:
        """Give the pool as many files as it can take."""
        while len(self._under_way) < pool.capacity:
            file = self._next.popleft() if self._next else next(files, None)
            if file is None:
                return
            future = pool.submit(self._grade, file, self._settings)
            self._under_way[future] = file
            future.add_done_callback(self._events.put)

    def _heed_stop(self) -> None:
        if self._stopped:
            raise Stop

    def _take(self, file: HandedIn, done: Future[Line]) -> None:
        try:
            line = done.result()
        except Displaced:
            self._next.append(file)
        except Died as died:
            self._try_again(file, died.times)
        except CannotGrade:
            raise
        except (CancelledError, Exception) as error:  # `grade` makes a line of its own mistakes
            raise CannotGrade(
                f"The pool has failed ({type(error).__name__}: {error}). What is graded is kept: "
                "the same command goes on from there."
            ) from error
        else:
            self._record(line, file)

    def _try_again(self, file: HandedIn, times: int) -> None:
        """Grade a file again if its process ended: first beside others, then alone, then never."""
        self._deaths[file.id] += times
        if self._deaths[file.id] < MOST_DEATHS:
            self._next.append(file)
        elif not self._one_by_one:
            self._deadly.append(file)
        else:
            sentence = (
                f"{printable(file.path)} could not be graded: each of the processes that "
                "tried, the last with nothing else at work, ended or hung before it was done. A "
                "human should look at it."
            )
            self._fail(file, "killed", sentence)

    def _fail(self, file: HandedIn, kind: str, sentence: str) -> None:
        line = error_line(replace(file, data=b""), kind, sentence, provenance(self._settings, 0.0))
        self._record(line, file)

    def _record(self, line: Line, file: HandedIn) -> None:
        self._results.add(line, file.stamp)
        self.tally.count(line.error)
