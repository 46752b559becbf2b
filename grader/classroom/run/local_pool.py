"""Processes of this machine with the interface of `concurrent.futures`."""

from __future__ import annotations

import math
import multiprocessing
import os
import signal
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import partial
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection
from multiprocessing.context import BaseContext
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from grader.classroom.run.pool import CannotGrade, Died, Displaced
from grader.worker.terms import LINUX

P = ParamSpec("P")
T = TypeVar("T")

JUDGE_SECONDS, JUDGE_BYTES = 60, 2 * 2**30
"""The processor time for a task, and the memory in addition to what its process already has."""

SAFE_PATH = "PYTHONSAFEPATH"

PAUSE_SECONDS = 0.5
"""The growing waiting times before another try to start a process."""

FALSE_STARTS = 3
"""The number of processes in a row that may end before they are ready; then the pool gives up."""


def usable_cores() -> int:
    """The cores that this process may use, which in a container or a job may be fewer than all."""
    try:
        cores = len(os.sched_getaffinity(0))
    except AttributeError:  # macOS, Windows
        cores = os.cpu_count() or 1
    with suppress(OSError, ValueError):
        quota, period = Path("/sys/fs/cgroup/cpu.max").read_text().split()
        cores = min(cores, max(1, int(quota) // int(period)))  # "max" is not a number: no quota
    return cores


class LocalPool(ThreadPoolExecutor):
    """At most `width` processes, and a thread for each that gives it one task at a time.

    If a process dies, its task fails with `Died`, and the next task gets another process.

    Args:
        width: the most processes. Each starts when there is a task for it.
        ready: called in each process before its first task; may raise CannotGrade.
        patience: the seconds after which a process is given up that is still at the same task.
        preload: a module to import once for all processes, or "" if there is only one.
    """

    def __init__(
        self, width: int, ready: Callable[[], object], patience: float, preload: str = ""
    ) -> None:
        super().__init__(width)
        self.capacity = width
        self._ready, self._patience = ready, patience
        self._context = _context(preload)
        self._lock = threading.Lock()
        self._closed = False
        self._workers: set[_Worker] = set()
        # Here, while this process has no other thread, whose locks would stay locked after a fork.
        self._idle = [] if preload else [self._new_worker()]

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Give a task to an idle process.

        The future raises Died if the process is lost, and CannotGrade if none can be started.
        """
        return super().submit(self._in_process, partial(fn, *args, **kwargs))

    def look_after(self) -> None:
        """Do nothing, because each thread looks after its own process."""

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End all processes at once, without waiting for their tasks."""
        with self._lock:
            self._closed = True
            for worker in self._workers:
                worker.process.kill()
        super().shutdown(wait=wait, cancel_futures=True)

    def _in_process(self, task: Callable[[], T]) -> T:
        worker = self._ready_worker()
        try:
            return worker.do(task, self._patience)
        except Died:
            self._drop(worker)
            raise
        finally:
            if worker in self._workers:
                self._idle.append(worker)

    def _ready_worker(self) -> _Worker:
        for trial in range(FALSE_STARTS):
            time.sleep(trial * PAUSE_SECONDS)
            try:
                worker = self._idle_worker() or self._new_worker()
                try:
                    worker.get_ready(self._patience)
                except BaseException:
                    self._drop(worker)
                    raise
                return worker
            except (OSError, EOFError, Died) as error:  # EOF: what forks them was killed
                failure = error
            except (CannotGrade, Displaced):
                raise
            except Exception as error:
                raise CannotGrade(
                    f"No notebook can be graded on this machine: {type(error).__name__}: {error}."
                ) from error
        if isinstance(failure, Died):
            raise CannotGrade(
                f"{FALSE_STARTS} processes in a row ended before they could grade anything: is "
                "there enough memory? With fewer of them (--jobs) there may be."
            )
        raise CannotGrade(
            f"No more processes can be started here ({failure}): with fewer of them (--jobs) it "
            "may work."
        )

    def _idle_worker(self) -> _Worker | None:
        with suppress(IndexError):
            while True:
                worker = self._idle.pop()
                if worker.process.is_alive():
                    return worker
                self._drop(worker)
        return None

    def _new_worker(self) -> _Worker:
        with self._lock, _undisturbed():
            if self._closed:
                raise Displaced
            worker = _Worker(self._context, self._ready)
            self._workers.add(worker)
            return worker

    def _drop(self, worker: _Worker) -> None:
        with self._lock:
            self._workers.discard(worker)
        worker.end()


class _Worker:
    """A process of the pool, with the pipe for its tasks and replies."""

    def __init__(self, context: Any, ready: Callable[[], object]) -> None:
        self._pipe, end = context.Pipe()
        self._is_ready = False
        self.process = context.Process(target=_serve, args=(end, ready))
        self.process.start()
        end.close()

    def get_ready(self, patience: float) -> None:
        """Wait until the process has called `ready`; raise what that raised, or Died."""
        self._is_ready = self._is_ready or self._answer(patience) is not None

    def do(self, task: Callable[[], T], patience: float) -> T:
        """Let the process do a task; raise what it raises, or Died if the process is lost."""
        with suppress(ConnectionError):  # it has died, as the answer will say
            self._pipe.send((patience, task))
        result: T = self._answer(patience)
        return result

    def end(self) -> None:
        """End the process at once, whatever it is doing."""
        # During a hopeless regular expression, none of its own threads could end it.
        self.process.kill()
        self.process.join()
        self._pipe.close()

    def _answer(self, patience: float) -> Any:
        try:
            if not self._pipe.poll(patience):
                # What took far too long once is not given as much time again but alone.
                raise Died(times=2)
            error, result = self._pipe.recv()
        except (EOFError, OSError):  # it died before it answered, or while it did
            raise Died from None
        if error is not None:
            raise error
        return result


def _serve(pipe: Connection, ready: Callable[[], object]) -> None:
    """Be a process of the pool, until its parent closes the pipe or is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with suppress(OSError):
        # Should memory run out, this process is to be killed, not the one that writes the results.
        Path("/proc/self/oom_score_adj").write_text("500")
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _reply(pipe, lambda: ready() is None)
    with suppress(EOFError, OSError):
        while True:
            _reply(pipe, partial(_within, *pipe.recv()))


def _reply(pipe: Connection, do: Callable[[], object]) -> None:
    answer: tuple[BaseException | None, object]
    try:
        answer = None, do()
    except BaseException as error:
        answer = error, None
    pipe.send(answer)


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)  # whatever this process is at; its worker ends when the pipes between them do


def _within(seconds: float, task: Callable[[], T]) -> T:
    """Do a task with limits on memory and processor time, in addition to what is already used.

    If the task needs more memory, it gets a MemoryError. If it needs more processor time, the
    system ends the process. This works even during a hopeless regular expression, which lets no
    other thread run.
    """
    # Windows has no limits, macOS has no /proc, and a process may already have a lower limit.
    with suppress(ImportError, OSError, ValueError):
        import resource

        end = math.ceil(time.process_time() + min(seconds, JUDGE_SECONDS))
        resource.setrlimit(resource.RLIMIT_CPU, (end, resource.getrlimit(resource.RLIMIT_CPU)[1]))
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        most = pages * resource.getpagesize() + JUDGE_BYTES
        resource.setrlimit(resource.RLIMIT_AS, (most, resource.getrlimit(resource.RLIMIT_AS)[1]))
    return task()


def _context(preload: str) -> BaseContext:
    if not LINUX:
        return multiprocessing.get_context("spawn")
    if not preload:
        # It takes the place of one that died, while the existing threads wait for it.
        warnings.filterwarnings("ignore", "This process .* is multi-threaded", DeprecationWarning)
        return multiprocessing.get_context("fork")
    # Torch is imported once, by a process that is forked for each of the pool: the others share
    # that memory, and one that died is replaced in no time.
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([preload])
    return context


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
