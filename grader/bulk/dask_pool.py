"""A Dask cluster behind the interface of `concurrent.futures`."""

from __future__ import annotations

import logging
import threading
import time
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future
from contextlib import suppress
from functools import partial
from typing import Any, ParamSpec, TypeVar

from grader.bulk.failures import CannotGrade, Died, Displaced
from grader.printable import printable

P = ParamSpec("P")
T = TypeVar("T")

BATCH = 4
"""Tasks that travel together: this process then uses 2 ms for each, and 4 for one alone."""

AT_ONCE = 2 * BATCH
"""Tasks for each of the cluster's threads: a batch at work, one that waits on the same machine."""

GATHER_SECONDS = 0.02
"""How long a task waits for others to travel with."""

CONNECT_SECONDS = 15.0

LOST_SECONDS = 30.0
"""How long the scheduler may be out of reach."""

COUNT_SECONDS = 1.0
"""How often the workers are counted: the scheduler is asked, and waited for."""

LONELY_SECONDS = 60.0
"""How long a cluster may be without any worker: they may be on their way, or may have gone."""


class DaskPool(Executor):
    """The workers of a scheduler, through Dask's own `Executor`.

    Workers may come and go: tasks of a lost one are given to another by the scheduler. Tasks travel
    in batches; what ends a worker is found out when those of its batch are tried alone.
    """

    def __init__(self, address: str) -> None:
        """Connect.

        Raises:
            CannotGrade: Dask is not installed, or nobody answers.
        """
        try:
            from distributed import Client
        except ModuleNotFoundError as error:
            raise CannotGrade(
                f"--scheduler needs Dask, and {error.name} is missing: install it with "
                "`pip install 'backprop-ninja[dask]'`."
            ) from None
        self._address = address
        # What it says of a lost scheduler is said here in a sentence.
        for name in ("distributed", "distributed.client"):
            logging.getLogger(name).setLevel(logging.CRITICAL)
        # A notebook of some MB is large for a task of Dask's, but it is what there is to send.
        warnings.filterwarnings("ignore", "Sending large graph", UserWarning)
        try:
            self._client = Client(
                address, timeout=CONNECT_SECONDS, set_as_default=False, name="grader"
            )
        except (OSError, ValueError, TimeoutError) as error:
            raise CannotGrade(
                f"No Dask scheduler answers at {address} ({type(error).__name__}): is it running, "
                "and is the address the one it has printed (tcp://HOST:PORT)?"
            ) from None
        # pure: Dask would take a second try of the same task for the first one, and its failure.
        self._executor: Executor = self._client.get_executor(pure=False)
        self._heard_from = self._accompanied = self._counted = time.monotonic()
        self._threads = self._count_threads()
        self._lock = threading.Lock()
        self._gathered: list[tuple[Future[Any], Callable[[], Any]]] = []
        self._departure: threading.Timer | None = None

    @property
    def capacity(self) -> int:
        return max(1, self._threads) * AT_ONCE

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Give a task to the scheduler, with the next ones or in a moment."""
        outer: Future[T] = Future()
        with self._lock:
            self._gathered.append((outer, partial(fn, *args, **kwargs)))
            full = len(self._gathered) >= BATCH
            if not full and self._departure is None:
                self._departure = threading.Timer(GATHER_SECONDS, self._send)
                self._departure.daemon = True
                self._departure.start()
        if full:
            self._send()
        return outer

    def _send(self) -> None:
        with self._lock:
            batch, self._gathered = self._gathered, []
            if self._departure is not None:
                self._departure.cancel()
                self._departure = None
        if not batch:
            return
        outers, calls = zip(*batch, strict=True)
        inner = self._executor.submit(_do_all, calls)
        inner.add_done_callback(lambda inner: _pass_on(inner, outers))

    def look_after(self) -> None:
        """See whether anybody is there.

        Raises:
            CannotGrade: the scheduler is gone, or all its workers, for too long.
        """
        now = time.monotonic()
        if self._client.status == "running":
            self._heard_from = now
        elif now - self._heard_from > LOST_SECONDS or self._client.status == "closed":
            raise CannotGrade(
                f"The scheduler at {self._address} is gone. What is graded is kept: start it "
                "again, and give the same command again."
            )
        if self._client.status == "running" and now - self._counted > COUNT_SECONDS:
            self._counted, self._threads = now, self._count_threads()
        if self._threads:
            self._accompanied = now
        elif now - self._accompanied > LONELY_SECONDS:
            raise CannotGrade(
                f"The scheduler at {self._address} has had no worker for {LONELY_SECONDS:.0f} "
                "seconds. What is graded is kept: start workers, and give the same command again."
            )

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Leave the cluster; what it is still at is thrown away."""
        with self._lock:
            if self._departure is not None:
                self._departure.cancel()
        with suppress(Exception):  # nothing to leave where the scheduler is gone
            self._executor.shutdown(wait=False)
        with suppress(Exception):
            self._client.close(timeout=2)

    def _count_threads(self) -> int:
        info: dict[str, Any] = self._client.scheduler_info(n_workers=-1)
        return sum(worker["nthreads"] for worker in info.get("workers", {}).values())


def _do_all(calls: Sequence[Callable[[], T]]) -> list[T | Exception]:
    """Do the tasks of a batch, on a worker; in place of a result, what a task has raised."""
    done: list[T | Exception] = []
    for call in calls:
        try:
            done.append(call())
        except Exception as error:  # told to whoever gave the task, as if it had come alone
            done.append(error)
    return done


def _pass_on(inner: Future[list[Any]], outers: Sequence[Future[Any]]) -> None:
    """Tell of each task of a batch what became of it."""
    from distributed import KilledWorker

    if inner.cancelled():  # the scheduler has lost it; whether it is still there is seen elsewhere
        found: list[Any] = [Displaced() for _ in outers]
    elif (error := inner.exception()) is None:
        found = inner.result()
    elif isinstance(error, KilledWorker):  # Dask has tried it on several workers already
        found = [Died(times=2) for _ in outers]
    else:
        found = [error] * len(outers)
    for outer, result in zip(outers, found, strict=True):
        if not isinstance(result, BaseException):
            outer.set_result(result)
        elif isinstance(result, CannotGrade | Died | Displaced):
            outer.set_exception(result)
        else:
            outer.set_exception(
                CannotGrade(
                    f"A Dask worker cannot grade ({type(result).__name__}: "
                    f"{printable(str(result))}). Is the same version of backprop-ninja installed "
                    "there?"
                )
            )
