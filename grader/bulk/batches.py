"""Batches: tasks that travel to a machine together, since each journey has its price."""

from __future__ import annotations

import math
import pickle
import time
from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

from grader.bulk.failures import CannotGrade, Died, Displaced
from grader.printable import printable

T = TypeVar("T")

MOST_TASKS = 16
"""Tasks in a batch. Dask's processes use 13 ms for a task alone, and 7 ms for one of sixteen."""

BATCH_SECONDS = 2.0
"""How long a batch may take: what is done is heard of when all of it is."""

LATELY = 16
"""So many of the last tasks make up most of the mean."""


class Batching(Generic[T]):
    """Decides which tasks travel together, and when.

    A task waits for others only while each thread has a batch without it. Of what there is each
    thread gets two batches, one to be at and one that is there when it is done; so a small class
    travels in small batches, and the first tasks of a large one need not wait.
    """

    def __init__(self) -> None:
        self._gathered: list[T] = []
        self._on_the_way = 0
        self._seconds_each = BATCH_SECONDS / MOST_TASKS  # a mean in which the last weigh most

    def add(self, task: T) -> None:
        """Take in a task."""
        self._gathered.append(task)

    def due(self, threads: int) -> list[list[T]]:
        """The batches that are to be sent now."""
        gathered, size = self._gathered, self._size(threads)
        if len(gathered) < size and self._on_the_way >= size * threads:
            return []
        self._on_the_way += len(gathered)
        self._gathered = []
        return [gathered[start : start + size] for start in range(0, len(gathered), size)]

    def back(self, tasks: int, seconds: float | None) -> None:
        """Take in that a batch of so many tasks is back: done in so many seconds, or not done."""
        self._on_the_way -= tasks
        if seconds is not None:
            share = min(1.0, tasks / LATELY)
            self._seconds_each += (seconds / tasks - self._seconds_each) * share

    def _size(self, threads: int) -> int:
        for_all = math.ceil((self._on_the_way + len(self._gathered)) / (2 * threads))
        in_time = int(BATCH_SECONDS / max(self._seconds_each, BATCH_SECONDS / MOST_TASKS))
        return max(1, min(for_all, in_time))


def pack(call: Callable[[], object]) -> bytes:
    """A task for `do_all`; Dask weighs and packs other things than bytes member by member."""
    return pickle.dumps(call)


def do_all(calls: Sequence[bytes]) -> bytes:
    """Do the tasks of a batch, on a worker; what they came to is for `unpack`."""
    began = time.perf_counter()
    results: list[object] = []
    for call in calls:
        try:
            results.append(pickle.loads(call)())
        except Exception as error:  # told to whoever gave the task, as if it had come alone
            results.append(in_a_sentence(error))
    return pickle.dumps((time.perf_counter() - began, results))


def unpack(done: bytes) -> tuple[float, list[Any]]:
    """Seconds a batch took, and for each task its result, or what it raised."""
    seconds, results = pickle.loads(done)
    return seconds, results


def in_a_sentence(error: BaseException) -> BaseException:
    """What a run understands; an exception of any other kind might not even survive the journey."""
    if isinstance(error, CannotGrade | Died | Displaced):
        return error
    return CannotGrade(
        f"A Dask worker cannot grade ({type(error).__name__}: {printable(str(error))}). Is the "
        "same version of backprop-ninja installed there?"
    )
