"""A Dask cluster behind the interface of `concurrent.futures`."""

from __future__ import annotations

import asyncio
import logging
import time
import warnings
from collections.abc import Callable
from concurrent.futures import CancelledError, Executor, Future
from contextlib import suppress
from functools import partial
from typing import Any, ParamSpec, TypeVar

from grader.classroom.run.pool import CannotGrade, Died, Displaced
from grader.printable import printable

P = ParamSpec("P")
T = TypeVar("T")

AT_ONCE = 4
"""Tasks for each of the cluster's threads: one at work, and others on their way there and back."""

CONNECT_SECONDS = 15.0

LOST_SECONDS = 30.0
"""How long the scheduler may be out of reach."""

COUNT_SECONDS = 1.0
"""How often the workers are counted: the scheduler is asked, and waited for."""

LONELY_SECONDS = 60.0
"""How long a cluster may be without any worker: they may be on their way, or may have gone."""


class DaskPool(Executor):
    """The workers of a scheduler, which gives the tasks of a lost one to another.

    Dask's own Executor takes a result for an error if its worker is lost in that moment.
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
        self._loop: Any = self._client.loop
        self._heard_from = self._accompanied = self._counted = time.monotonic()
        self._threads = self._count_threads()

    @property
    def capacity(self) -> int:
        """So many tasks keep the workers busy that are there now."""
        return max(1, self._threads) * AT_ONCE

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Give a task to the scheduler; whatever goes wrong, the future tells it."""
        outer: Future[T] = Future()
        try:
            # pure: Dask would take a second try of the same task for the first, and its failure.
            task = self._client.submit(fn, *args, pure=False, **kwargs)
            result = self._client.gather(task, asynchronous=True)
            inner = asyncio.run_coroutine_threadsafe(result, self._loop.asyncio_loop)
        except Exception as error:
            outer.set_exception(self._refused(error))
        else:
            inner.add_done_callback(partial(_pass_on, outer))
        return outer

    def _refused(self, error: Exception) -> Displaced | CannotGrade:
        if self._client.status != "running":  # how long that may be is for `look_after`
            return Displaced()
        return CannotGrade(
            f"The scheduler at {self._address} cannot be given a task ({type(error).__name__}: "
            f"{printable(str(error))}). What is graded is kept."
        )

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
        with suppress(Exception):  # nothing to leave where the scheduler is gone
            self._client.close(timeout=2)

    def _count_threads(self) -> int:
        info: dict[str, Any] = self._client.scheduler_info(n_workers=-1)
        return sum(worker["nthreads"] for worker in info.get("workers", {}).values())


def _pass_on(outer: Future[T], inner: Future[T]) -> None:
    """Tell what became of a task; nobody would hear of an error here, since this is a callback."""
    from distributed import KilledWorker

    if not outer.set_running_or_notify_cancel():
        return
    try:
        outer.set_result(inner.result())
    except CancelledError:  # the scheduler has lost it; is it still there? see `look_after`
        outer.set_exception(Displaced())
    except KilledWorker:  # Dask has tried it on several workers already
        outer.set_exception(Died(times=2))
    except CannotGrade as error:
        outer.set_exception(error)
    except Exception as error:
        outer.set_exception(
            CannotGrade(
                f"A Dask worker cannot grade ({type(error).__name__}: {printable(str(error))}). Is "
                "the same version of backprop-ninja installed there?"
            )
        )
