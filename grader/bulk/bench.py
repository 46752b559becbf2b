"""A bench: one process of the local pool with the tasks it has been given."""

from __future__ import annotations

import os
import signal
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import suppress
from multiprocessing.context import BaseContext
from typing import Any, ParamSpec, TypeVar

from grader.bulk.pool_process import SharedNumber, begin, settle_in, within

P = ParamSpec("P")
T = TypeVar("T")


class Bench:
    """One process, and what it has been given in the order of giving.

    `since` is when its last task ended, or the first of those it has was given; `process` is its
    number, from when it is ready. All but `hand_over` wants the pool's lock.
    """

    def __init__(self, context: BaseContext, ready: Callable[[], object]) -> None:
        # The process ends when `leash` does: closed, or gone with this process, however that went.
        end, self.leash = context.Pipe(duplex=False)
        self.given: deque[Future[Any]] = deque()
        self.since = time.monotonic()
        self.process: int | None = None
        self.broken = self.given_up = False
        self._last = 0
        self._given_to_others: set[Future[Any]] = set()
        # An executor has handed its process the next task long before that is begun, and cannot
        # take it back: the process has to see for itself whether it is still wanted.
        self._withdrawn: SharedNumber = context.RawValue("Q", 0)
        self.executor = ProcessPoolExecutor(
            1, context, initializer=settle_in, initargs=(end, self._withdrawn)
        )
        self.readiness = self.executor.submit(begin, ready)
        end.close()

    def give(self, outer: Future[Any]) -> None:
        """Note a task before it is handed over."""
        if not self.given:
            self.since = time.monotonic()
        self.given.append(outer)

    def hand_over(
        self, patience: float, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs
    ) -> Future[T]:
        """Let the process do a task.

        Raises:
            BrokenExecutor: the process has died.
        """
        self._last += 1
        return self.executor.submit(within, patience, self._last, fn, *args, **kwargs)

    @property
    def waiting(self) -> list[Future[Any]]:
        """What waits behind the task the process is at."""
        return [future for future in list(self.given)[1:] if future not in self._given_to_others]

    def withdraw(self) -> list[Future[Any]]:
        """Take away what waits behind the task the process is at, for others to do.

        The process has it still: it may begin it this very moment, and else has to skip it.
        """
        waiting = self.waiting
        self._withdrawn.value = self._last
        self._given_to_others.update(waiting)
        return waiting

    def take_back(self, outer: Future[Any]) -> bool:
        """Note that the process is done with a task; False if others have been given it."""
        self.since = time.monotonic()
        self.given.remove(outer)
        if outer in self._given_to_others:
            self._given_to_others.remove(outer)
            return False
        return True

    def end(self) -> None:
        """Let the process end at once, whatever it does."""
        self.leash.close()
        if self.process is not None and not self.broken:
            with suppress(OSError):
                # Amid a hopeless regular expression no thread of its would notice the leash.
                os.kill(self.process, getattr(signal, "SIGKILL", signal.SIGTERM))
