"""A Dask cluster behind the interface of `concurrent.futures`."""

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
"""Tasks for each of the cluster's threads: one at work, and others on their way there and back."""

CONNECT_SECONDS = 15.0

LOST_SECONDS = 30.0
"""How long the scheduler may be out of reach, or silent."""

COUNT_SECONDS = 1.0
"""How often the scheduler is asked for its workers."""

LONELY_SECONDS = 60.0
"""How long a cluster may be without any worker: they may be on their way, or may have gone."""


async def _ask_for_scheduler(address: str) -> None:
    """Raise what Dask raises where nobody is at this address, or a worker."""
    from distributed import Security
    from distributed.core import rpc

    known = Security().get_connection_args("client")
    async with rpc(address, timeout=CONNECT_SECONDS, connection_args=known) as found:
        kind = (await asyncio.wait_for(found.identity(), CONNECT_SECONDS))["type"]
        if kind != "Scheduler":
            raise ValueError(kind)


class DaskPool(Executor):
    """The workers of a scheduler, which gives the tasks of a lost one to another.

    Dask's own Executor takes a result for an error if its worker is lost in that moment.
    """

    def __init__(self, address: str) -> None:
        """Connect.

        Raises:
            CannotGrade: nobody answers.
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
        """So many tasks keep the workers busy that are there now."""
        return max(1, self._threads) * AT_ONCE

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Give a task to the scheduler; whatever goes wrong, the future tells it."""
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
        """See whether anybody is there.

        Raises:
            CannotGrade: the scheduler is gone, or all its workers, for too long.
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
        """Leave the cluster; what it is still at is thrown away."""
        with suppress(Exception):  # nothing to leave where the scheduler is gone
            self._client.close(timeout=2)

    def _start(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        return asyncio.run_coroutine_threadsafe(work, self._loop.asyncio_loop)

    async def _count_threads(self) -> int:
        info: dict[str, Any] = await self._scheduler.identity()
        return sum(worker["nthreads"] for worker in info["workers"].values())

    def _pass_on(self, task: Any, outer: Future[T], inner: Future[T]) -> None:
        """Tell what became of a task; nobody would hear of an error in here, a callback."""
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
