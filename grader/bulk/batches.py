"""Which tasks travel to a machine together: each journey has its price."""

from __future__ import annotations

import math
from typing import Generic, TypeVar

T = TypeVar("T")

MOST_TASKS = 16
"""Tasks in a batch: Dask's processes use 13 ms for a task alone, and 7 ms for one of sixteen."""


class Batching(Generic[T]):
    """Decides which tasks travel together, and when.

    What is under way makes two batches for each thread, one that it is at and one that is there
    when it is done; so a small class travels in small batches. A task waits for others only while
    there is a batch for each thread without it.
    """

    def __init__(self) -> None:
        self._gathered: list[T] = []
        self._tasks_out = self._batches_out = 0

    def add(self, task: T) -> None:
        """Take in a task."""
        self._gathered.append(task)

    def due(self, threads: int) -> list[list[T]]:
        """The batches that are to be sent now."""
        gathered = self._gathered
        shared = math.ceil((self._tasks_out + len(gathered)) / (2 * threads))
        size = max(1, min(MOST_TASKS, shared))
        if len(gathered) < size and self._batches_out >= threads:
            return []
        self._gathered = []
        batches = [gathered[start : start + size] for start in range(0, len(gathered), size)]
        self._tasks_out += len(gathered)
        self._batches_out += len(batches)
        return batches

    def returned(self, tasks: int) -> None:
        """Take in that a batch of so many tasks is back, whatever came of it."""
        self._tasks_out -= tasks
        self._batches_out -= 1
