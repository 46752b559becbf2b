"""Processes of this machine behind the interface of `concurrent.futures`."""

from __future__ import annotations

import math
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor
from contextlib import contextmanager, suppress
from functools import partial
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.context import BaseContext
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from grader.classroom.run.pool import CannotGrade, Died, Displaced

P = ParamSpec("P")
T = TypeVar("T")

JUDGE_SECONDS, JUDGE_BYTES = 60, 2 * 2**30
"""Processor time for a task, and memory beyond what its process has when it begins."""

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
    """One `ProcessPoolExecutor` a core, each of one process that has at most one task.

    When a process dies, the task it was at fails with `Died`, and another process takes the dead
    one's place; a task that it had not begun fails with `Displaced`.

    Args:
        width: the most processes; one starts when there is a task for it.
        ready: called in each process before its first task; raises CannotGrade.
        patience: seconds after which a process that is still at one task is given up.
        preload: a module worth importing once for all processes; "" where there is one only.
    """

    def __init__(
        self, width: int, ready: Callable[[], object], patience: float, preload: str = ""
    ) -> None:
        self.capacity = width
        self._ready, self._patience = ready, patience
        self._context = _context(preload)
        _allow_files(width * FILES_EACH)
        self._lock = threading.Lock()
        self._false_starts = 0
        self._failure: CannotGrade | None = None
        self._closed = False
        self._workers = [self._new_worker()]

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Give a task to a process that has none; there are never more tasks than `capacity`.

        This and the other methods are for one thread only.
        """
        self.look_after()
        outer: Future[T] = Future()
        idle = [worker for worker in self._workers if worker.task is None]
        if idle:
            worker = min(idle, key=lambda worker: worker.process is None)
        else:
            assert len(self._workers) < self.capacity, "more tasks than processes"
            worker = self._new_worker()
            self._workers.append(worker)
        with self._lock:
            worker.task, worker.since = outer, time.monotonic()
        # Without the lock: while an executor calls back, it may hold one that `submit` wants.
        try:
            inner = worker.executor.submit(_within, self._patience, fn, *args, **kwargs)
        except BrokenExecutor:  # its process died this very moment
            with self._lock:
                worker.broken = True
            outer.set_exception(Displaced())
            return outer
        inner.add_done_callback(partial(self._pass_on, worker, outer))
        return outer

    def look_after(self) -> None:
        """Replace processes that died, give up those that hang.

        Raises:
            CannotGrade: processes do not start.
        """
        with self._lock:
            if self._failure is not None:
                raise self._failure
            broken = [number for number, worker in enumerate(self._workers) if worker.broken]
            late = time.monotonic() - self._patience
            for worker in self._workers:
                if (worker.task or worker.process is None) and worker.since < late:
                    worker.given_up = True
                    worker.end()
        for number in broken:
            self._workers[number].end()
            self._workers[number].executor.shutdown(wait=False)
            self._workers[number] = self._new_worker()

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End all processes at once; what they were at is not waited for."""
        with self._lock:
            self._closed = True
            workers = list(self._workers)
        for worker in workers:
            worker.end()
        for worker in workers:
            worker.executor.shutdown(wait=wait, cancel_futures=True)

    def _new_worker(self) -> _Worker:
        for trial in range(1, FALSE_STARTS + 1):
            try:
                with _undisturbed():
                    worker = _Worker(self._context, self._ready)
            except (OSError, EOFError) as error:  # EOF: the process that forks them was killed
                if trial == FALSE_STARTS:
                    raise CannotGrade(
                        f"No more processes can be started here ({error}): with fewer of them "
                        "(--jobs) it may work."
                    ) from error
                # A process that is being killed takes no more requests, but is not gone yet.
                time.sleep(trial * PAUSE_SECONDS)
            else:
                break
        worker.readiness.add_done_callback(partial(self._started, worker))
        return worker

    def _started(self, worker: _Worker, readiness: Future[int]) -> None:
        with self._lock:
            worker.since = time.monotonic()
            if self._closed or readiness.cancelled():
                return
            error = readiness.exception()
            if error is None:
                worker.process = readiness.result()
                self._false_starts = 0
                return
            worker.broken = True
            self._false_starts += 1
            if isinstance(error, CannotGrade):
                self._failure = error
            elif not isinstance(error, BrokenExecutor):
                self._failure = CannotGrade(
                    f"No notebook can be graded on this machine: {type(error).__name__}: {error}."
                )
            elif self._false_starts >= FALSE_STARTS:
                self._failure = CannotGrade(
                    f"{FALSE_STARTS} processes in a row ended before they could grade anything: is "
                    "there enough memory? With fewer of them (--jobs) there may be."
                )

    def _pass_on(self, worker: _Worker, outer: Future[T], inner: Future[T]) -> None:
        """Tell what became of a task; runs in the thread that looks after the process."""
        error = None if inner.cancelled() else inner.exception()
        with self._lock:
            worker.task, worker.since = None, time.monotonic()
            if isinstance(error, BrokenExecutor):
                worker.broken = True
        if inner.cancelled():
            outer.set_exception(Displaced())
        elif isinstance(error, BrokenExecutor):
            # What took far too long once is not given as much time again but alone.
            died = Died(times=2 if worker.given_up else 1)
            outer.set_exception(Displaced() if worker.process is None else died)
        elif error is not None:
            outer.set_exception(error)
        else:
            outer.set_result(inner.result())


class _Worker:
    """A process of the pool, and its task.

    `since` is when it was given that, or had nothing more to do; `process` is its number, from when
    it is ready. What is not set once and for all wants the pool's lock.
    """

    def __init__(self, context: BaseContext, ready: Callable[[], object]) -> None:
        # The process ends when this pipe does: closed, or gone with this process, however it ended.
        end, self._pipe = context.Pipe(duplex=False)
        self.task: Future[Any] | None = None
        self.since = time.monotonic()
        self.process: int | None = None
        self.broken = self.given_up = False
        self.executor = ProcessPoolExecutor(1, context, initializer=_begin, initargs=(end,))
        self.readiness = self.executor.submit(_get_ready, ready)
        end.close()

    def end(self) -> None:
        """Let the process end at once, whatever it does."""
        self._pipe.close()
        if self.process is not None and not self.broken:
            with suppress(OSError):
                # Amid a hopeless regular expression no thread of its would notice the pipe.
                os.kill(self.process, getattr(signal, "SIGKILL", signal.SIGTERM))


def _begin(pipe: Connection) -> None:
    """Begin a process of the pool, which ends when the pipe is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with suppress(OSError):
        # Should memory run out, this process is to be killed, not the one that writes the results.
        Path("/proc/self/oom_score_adj").write_text("500")
    threading.Thread(target=_end_with, args=(pipe,), daemon=True).start()


def _end_with(pipe: Connection) -> None:
    wait([pipe])
    os._exit(1)  # whatever the process is at; its worker ends when the pipes between them do


def _get_ready(ready: Callable[[], object]) -> int:
    """Get ready; the process's number is returned."""
    ready()
    return os.getpid()


def _within(seconds: float, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
    """Do a task with limits on what it uses beyond what the process has used already.

    With more memory it gets a MemoryError. With more processor time the process is ended by the
    system: not even a hopeless regular expression, which lets no other thread run, is in the way.
    """
    # None of it on Windows, no /proc on macOS, and who may use less than that has a limit already.
    with suppress(ImportError, OSError, ValueError):
        import resource

        end = math.ceil(time.process_time() + min(seconds, JUDGE_SECONDS))
        resource.setrlimit(resource.RLIMIT_CPU, (end, resource.getrlimit(resource.RLIMIT_CPU)[1]))
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        most = pages * resource.getpagesize() + JUDGE_BYTES
        resource.setrlimit(resource.RLIMIT_AS, (most, resource.getrlimit(resource.RLIMIT_AS)[1]))
    return fn(*args, **kwargs)


def _context(preload: str) -> BaseContext:
    if sys.platform != "linux":
        return multiprocessing.get_context("spawn")
    if not preload:
        return multiprocessing.get_context("fork")
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
    if can_block:
        # It starts with the first of them, and lets Ctrl-C through again when it does.
        resource_tracker.ensure_running()
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
