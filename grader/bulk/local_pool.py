"""Processes of this machine behind the interface of `concurrent.futures`."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future
from contextlib import contextmanager, suppress
from functools import partial
from multiprocessing.context import BaseContext
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from grader.bulk.bench import Bench
from grader.bulk.failures import CannotGrade, Died, Displaced

P = ParamSpec("P")
T = TypeVar("T")

AT_ONCE = 2
"""Tasks a process holds: the one it works on, and one so that it need not wait for the next."""

HELD_UP_SECONDS = 0.5
"""When one process is at a task for so long and another at none, the other gets what waits."""

FILES_EACH = 32
"""Pipes that a process takes here, and as many again."""

SAFE_PATH = "PYTHONSAFEPATH"

PAUSE_SECONDS = 0.5
"""How long to wait, longer each time, before a process is started that could not be."""

FALSE_STARTS = 3
"""Processes in a row that end before they are ready: after that there is no point in another."""


def usable_cores() -> int:
    """The cores that this process may use: fewer than the machine's in a container or a job."""
    try:
        cores = len(os.sched_getaffinity(0))
    except AttributeError:  # macOS, Windows
        cores = os.cpu_count() or 1
    with suppress(OSError, ValueError):
        quota, period = Path("/sys/fs/cgroup/cpu.max").read_text().split()
        cores = min(cores, max(1, int(quota) // int(period)))  # "max" is no number: no quota
    return cores


class LocalPool(Executor):
    """One `ProcessPoolExecutor` a core, each of one process.

    When a process dies, an executor fails all it was given. With one process to each, the others go
    on, and the task it died of is known: the oldest. That one fails with `Died`, those behind it
    with `Displaced`, and another process takes the dead one's place.

    Args:
        width: the most processes; one starts when there is a task for it.
        ready: called in each process before its first task; raises CannotGrade.
        patience: seconds after which a process that is still at one task is given up.
        preload: a module worth importing once for all processes.
    """

    def __init__(
        self, width: int, ready: Callable[[], object], patience: float, preload: str
    ) -> None:
        self.capacity = width * AT_ONCE
        self._width = width
        self._ready, self._patience = ready, patience
        self._context = _context(preload)
        _allow_files(width * FILES_EACH)
        self._lock = threading.Lock()
        self._false_starts = 0
        self._failure: CannotGrade | None = None
        self._closed = False
        self._benches = [self._new_bench()]

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Give a task to the process that has the least to do; never more than `capacity`.

        This and the other methods are for one thread only.
        """
        self.look_after()
        outer: Future[T] = Future()
        bench = min(self._benches, key=lambda bench: (len(bench.given), bench.process is None))
        if bench.given and len(self._benches) < self._width:
            bench = self._new_bench()
            self._benches.append(bench)
        with self._lock:
            bench.give(outer)
        # Without the lock: while an executor calls back, it may hold one that `submit` wants.
        try:
            inner = bench.hand_over(self._patience, fn, *args, **kwargs)
        except BrokenExecutor:  # its process died this very moment
            with self._lock:
                bench.broken = True
                bench.take_back(outer)
            outer.set_exception(Displaced())
            return outer
        inner.add_done_callback(partial(self._settle, bench, outer))
        return outer

    def look_after(self) -> None:
        """Replace processes that died, give up those that hang.

        What waits behind a long task while another process has nothing to do fails with
        `Displaced`: given anew, it goes to that one.

        Raises:
            CannotGrade: processes do not start.
        """
        with self._lock:
            if self._failure is not None:
                raise self._failure
            broken = [number for number, bench in enumerate(self._benches) if bench.broken]
            late = time.monotonic() - self._patience
            for bench in self._benches:
                if (bench.given or bench.process is None) and bench.since < late:
                    bench.given_up = True
                    bench.end()
            held_up = self._held_up()
            displaced = [] if held_up is None else held_up.withdraw()
        for future in displaced:
            future.set_exception(Displaced())
        for number in broken:
            self._benches[number].end()
            self._benches[number].executor.shutdown(wait=False)
            self._benches[number] = self._new_bench()

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End all processes at once; what they were at is not waited for."""
        with self._lock:
            self._closed = True
            benches = list(self._benches)
        for bench in benches:
            bench.end()
        for bench in benches:
            bench.executor.shutdown(wait=wait, cancel_futures=True)

    def _held_up(self) -> Bench | None:
        """The process that has been at a task for the longest, if another could do what waits.

        At the end of a run, when there is nothing left to give, this is all that keeps the others
        from waiting for one endless loop after another.
        """
        late = time.monotonic() - HELD_UP_SECONDS
        unchanged = [b for b in self._benches if b.process is not None and b.since < late]
        if all(bench.given for bench in unchanged):
            return None
        busy = (bench for bench in unchanged if bench.waiting)
        return min(busy, key=lambda bench: bench.since, default=None)

    def _new_bench(self) -> Bench:
        for trial in range(1, FALSE_STARTS + 1):
            try:
                with _undisturbed():
                    bench = Bench(self._context, self._ready)
            except (OSError, EOFError) as error:  # EOF: the process that forks them was killed
                if trial == FALSE_STARTS:
                    raise CannotGrade(
                        f"No more processes can be started here ({error}): with fewer of them "
                        "(--jobs) it may work."
                    ) from error
                # Somebody who is being killed takes no more requests, but is not gone yet.
                time.sleep(trial * PAUSE_SECONDS)
            else:
                break
        bench.readiness.add_done_callback(partial(self._started, bench))
        return bench

    def _started(self, bench: Bench, readiness: Future[int]) -> None:
        with self._lock:
            bench.since = time.monotonic()
            if self._closed or readiness.cancelled():
                return
            error = readiness.exception()
            if error is None:
                bench.process = readiness.result()
                self._false_starts = 0
                return
            bench.broken = True
            self._false_starts += 1
            if not isinstance(error, BrokenExecutor):
                self._failure = _as_cannot_grade(error)
            elif self._false_starts >= FALSE_STARTS:
                self._failure = CannotGrade(
                    f"{FALSE_STARTS} processes in a row ended before they could grade anything: is "
                    "there enough memory? With fewer of them (--jobs) there may be."
                )

    def _settle(self, bench: Bench, outer: Future[Any], inner: Future[Any]) -> None:
        """Pass on what became of a task; runs in the thread that looks after the process."""
        with self._lock:
            to_blame = not bench.broken and bench.process is not None
            error = None if inner.cancelled() else inner.exception()
            if isinstance(error, BrokenExecutor):
                bench.broken = True
            if not bench.take_back(outer):
                return
        if inner.cancelled():
            outer.set_exception(Displaced())
        elif isinstance(error, BrokenExecutor):
            # What took far too long once is not given as much time again but alone.
            died = Died(times=2 if bench.given_up else 1)
            outer.set_exception(died if to_blame else Displaced())
        elif error is not None:
            outer.set_exception(error)
        else:
            outer.set_result(inner.result())


def _as_cannot_grade(error: BaseException) -> CannotGrade:
    if isinstance(error, CannotGrade):
        return error
    return CannotGrade(
        f"No notebook can be graded on this machine: {type(error).__name__}: {error}."
    )


def _context(preload: str) -> BaseContext:
    if sys.platform != "linux":
        return multiprocessing.get_context("spawn")
    # Torch is imported once, by a process that is forked for each of the pool: the others share
    # that memory, and one that died is replaced in no time.
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([preload])
    return context


def _allow_files(count: int) -> None:
    """Raise the number of files this process may open, low for the sake of old programs."""
    with suppress(ImportError, ValueError, OSError):
        import resource

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        wanted = 1024 + count
        if soft != resource.RLIM_INFINITY and soft < wanted:
            most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Let processes that start here never hear of Ctrl-C, since this one ends them.

    Nor do they import from the current folder, which may be full of students' files.
    """
    safe_path = os.environ.get(SAFE_PATH)
    os.environ[SAFE_PATH] = "1"
    can_block = hasattr(signal, "pthread_sigmask")
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT}) if can_block else set()
    try:
        yield
    finally:
        if can_block:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        if safe_path is None:
            del os.environ[SAFE_PATH]
        else:
            os.environ[SAFE_PATH] = safe_path
