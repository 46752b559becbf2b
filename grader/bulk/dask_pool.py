"""A Dask cluster behind the interface of `concurrent.futures`."""

from __future__ import annotations

import logging
import threading
import time
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError, Executor, Future
from contextlib import suppress
from functools import partial
from typing import Any, ParamSpec, TypeVar

from grader.bulk.batches import MOST_TASKS, Batching
from grader.bulk.dask_work import do_all, in_a_sentence, pack, unpack
from grader.bulk.failures import CannotGrade, Died, Displaced
from grader.printable import printable

P = ParamSpec("P")
T = TypeVar("T")

AT_ONCE = 2 * MOST_TASKS
"""Tasks for each of the cluster's threads: a batch at work, one that waits on the same machine."""

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
        self._batching: Batching[tuple[Future[Any], bytes]] = Batching()

    @property
    def capacity(self) -> int:
        return max(1, self._threads) * AT_ONCE

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Give a task to the scheduler, at once or with others."""
        outer: Future[T] = Future()
        call = pack(partial(fn, *args, **kwargs))
        with self._lock:
            self._batching.add((outer, call))
        self._send()
        return outer

    def _send(self) -> None:
        """Give the scheduler the batches that are due."""
        with self._lock:
            batches = self._batching.due(max(1, self._threads))
        for batch in batches:
            outers, calls = zip(*batch, strict=True)
            try:
                inner = self._executor.submit(do_all, calls)
            except Exception as error:
                self._settle(outers, [self._refused(error) for _ in outers])
            else:
                inner.add_done_callback(partial(self._receive, outers))

    def _refused(self, error: Exception) -> Displaced | CannotGrade:
        if self._client.status != "running":  # how long that may be is for `look_after`
            return Displaced()
        return CannotGrade(
            f"The scheduler at {self._address} cannot be given a task ({type(error).__name__}: "
            f"{printable(str(error))}). What is graded is kept."
        )

    def _receive(self, outers: Sequence[Future[Any]], inner: Future[bytes]) -> None:
        """Tell of each task of a batch what became of it; then others may be due."""
        self._settle(outers, _results(inner, len(outers)))
        self._send()

    def _settle(self, outers: Sequence[Future[Any]], results: Sequence[Any]) -> None:
        with self._lock:
            self._batching.returned(len(outers))
        for outer, result in zip(outers, results, strict=True):
            if not outer.set_running_or_notify_cancel():
                continue
            if isinstance(result, BaseException):
                outer.set_exception(result)
            else:
                outer.set_result(result)

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
            self._send()  # there may be threads that have nothing yet
        if self._threads:
            self._accompanied = now
        elif now - self._accompanied > LONELY_SECONDS:
            raise CannotGrade(
                f"The scheduler at {self._address} has had no worker for {LONELY_SECONDS:.0f} "
                "seconds. What is graded is kept: start workers, and give the same command again."
            )

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Leave the cluster; what it is still at is thrown away."""
        with suppress(Exception):  # nothing to leave where the scheduler is gone
            self._executor.shutdown(wait=False)
        with suppress(Exception):
            self._client.close(timeout=2)

    def _count_threads(self) -> int:
        info: dict[str, Any] = self._client.scheduler_info(n_workers=-1)
        return sum(worker["nthreads"] for worker in info.get("workers", {}).values())


def _results(inner: Future[bytes], tasks: int) -> Sequence[Any]:
    """For each task of a batch its result, or the exception to raise."""
    from distributed import KilledWorker

    try:
        return unpack(inner.result(), tasks)
    except CancelledError:  # the scheduler has lost it; is it still there? see `look_after`
        return [Displaced() for _ in range(tasks)]
    except KilledWorker:  # Dask has tried it on several workers already
        return [Died(times=2) for _ in range(tasks)]
    except Exception as error:  # nobody would hear of it: this is a callback
        return [in_a_sentence(error)] * tasks
