"""A Dask cluster with the interface of `concurrent.futures`."""

from __future__ import annotations

import asyncio
import logging
import time
import warnings
from collections.abc import Callable, Coroutine
from concurrent.futures import CancelledError, Executor, Future
from contextlib import suppress
from functools import partial
from typing import Any, ParamSpec, TypeVar

from grader.classroom.run.pool import CannotGrade, Died, Displaced
from grader.printable import printable

P = ParamSpec("P")
T = TypeVar("T")

AT_ONCE = 4
"""The number of tasks for each of the cluster's threads: one runs, the others are on their way."""

CONNECT_SECONDS = 15.0

LOST_SECONDS = 30.0
"""The seconds for which the scheduler may be unreachable or silent."""

COUNT_SECONDS = 1.0
"""How often, in seconds, to ask the scheduler for its workers."""

LONELY_SECONDS = 60.0
"""The seconds for which a cluster may have no worker, because workers may still be on their way."""


async def _ask_for_scheduler(address: str) -> None:
    """Raise Dask's exception if there is no scheduler at this address."""
    from distributed import Security
    from distributed.core import rpc

    known = Security().get_connection_args("client")
    async with rpc(address, timeout=CONNECT_SECONDS, connection_args=known) as found:
        kind = (await asyncio.wait_for(found.identity(), CONNECT_SECONDS))["type"]
        if kind != "Scheduler":
            raise ValueError(kind)


class DaskPool(Executor):
    """The workers of a scheduler, which gives the tasks of a lost worker to another.

    It replaces Dask's own Executor, which takes a result for an error if its worker is lost at that
    moment.
    """

    def __init__(self, address: str) -> None:
        """Connect to the scheduler.

        Raises:
            CannotGrade: the scheduler does not answer.
        """
        from distributed import Client

        self._address = address
        # What it says of a lost scheduler is said here in a sentence.
        for name in ("distributed", "distributed.client"):
            logging.getLogger(name).setLevel(logging.CRITICAL)
        # A notebook of some MB is large for a task of Dask's, but it is what there is to send.
        warnings.filterwarnings("ignore", "Sending large graph", UserWarning)
        try:
            # A Client that cannot make anything of an address hangs, and says so, once it is freed.
            asyncio.run(_ask_for_scheduler(address))
            self._client = Client(
                address, timeout=CONNECT_SECONDS, set_as_default=False, name="grader"
            )
        except Exception as error:  # each kind of address has its own
            raise CannotGrade(
                f"No Dask scheduler answers at {printable(address)!r} ({type(error).__name__}): is "
                "it running, and is the address the one it has printed (tcp://HOST:PORT)?"
            ) from None
        self._scheduler: Any = self._client.scheduler
        self._loop: Any = self._client.loop
        self._heard_from = self._accompanied = self._asked = time.monotonic()
        self._threads, self._answer = 0, self._start(self._count_threads())

    @property
    def capacity(self) -> int:
        """The number of tasks that keep the present workers busy."""
        return max(1, self._threads) * AT_ONCE

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Give a task to the scheduler. Whatever goes wrong, the future reports it."""
        outer: Future[T] = Future()
        try:
            # pure: Dask would take a second try of the same task for the first, and its failure.
            task = self._client.submit(fn, *args, pure=False, **kwargs)
            inner = self._start(self._client.gather(task, asynchronous=True))
        except Exception as error:
            what = f"The scheduler at {self._address} cannot be given a task"
            outer.set_exception(self._explain(error, True, what, "What is graded is kept."))
        else:
            inner.add_done_callback(partial(self._pass_on, task, outer))
        return outer

    def look_after(self) -> None:
        """Check that the scheduler and its workers are there.

        Raises:
            CannotGrade: the scheduler or all its workers have been away for too long.
        """
        now = time.monotonic()
        answered = self._answer.done()
        # A scheduler that hangs keeps the connection; another one may answer in place of ours.
        if self._client.status == "running" and answered and not self._answer.exception():
            self._heard_from, self._threads = now, self._answer.result()
        elif now - self._heard_from > LOST_SECONDS or self._client.status == "closed":
            raise CannotGrade(
                f"The scheduler at {self._address} is gone. What is graded is kept: start it "
                "again, and give the same command again."
            )
        if answered and now - self._asked > COUNT_SECONDS:
            self._asked, self._answer = now, self._start(self._count_threads())
        if self._threads:
            self._accompanied = now
        elif now - self._accompanied > LONELY_SECONDS:
            raise CannotGrade(
                f"The scheduler at {self._address} has had no worker for {LONELY_SECONDS:.0f} "
                "seconds. What is graded is kept: start workers, and give the same command again."
            )

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Leave the cluster, and discard the tasks that it has not finished."""
        with suppress(Exception):  # nothing to leave where the scheduler is gone
            self._client.close(timeout=2)

    def _start(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        return asyncio.run_coroutine_threadsafe(work, self._loop.asyncio_loop)

    async def _count_threads(self) -> int:
        info: dict[str, Any] = await self._scheduler.identity()
        return sum(worker["nthreads"] for worker in info["workers"].values())

    def _pass_on(self, task: Any, outer: Future[T], inner: Future[T]) -> None:
        """Report the result of a task. An error in this callback would go unnoticed."""
        from distributed import KilledWorker

        if not outer.set_running_or_notify_cancel():
            return
        try:
            outer.set_result(inner.result())
        except KilledWorker:  # Dask has tried it on several workers already
            outer.set_exception(Died(times=2))
        except CannotGrade as error:
            outer.set_exception(error)
        # asyncio.CancelledError is not an Exception, and asyncio puts it in place of the other one.
        except (Exception, asyncio.CancelledError) as error:
            advice = "Is the same version of backprop-ninja installed there?"
            own = task.status == "error"  # and not of the way back
            outer.set_exception(self._explain(error, own, "A Dask worker cannot grade", advice))

    def _explain(self, error: BaseException, own: bool, what: str, advice: str) -> Exception:
        # A lost connection shows itself in many ways; how long it may last is for `look_after`.
        lost = not own and isinstance(error, CancelledError | asyncio.CancelledError | OSError)
        if lost or self._client.status != "running":
            return Displaced()
        return CannotGrade(f"{what} ({type(error).__name__}: {printable(str(error))}). {advice}")
