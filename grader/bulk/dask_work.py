"""What a worker of Dask's is asked to do, and how that travels there and back."""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable, Sequence
from typing import Any

from grader.bulk.failures import CannotGrade, Displaced
from grader.printable import printable

BATCH_SECONDS = 2.0
"""After which a worker begins no other task of a batch: what is done is heard of with the last."""


def pack(call: Callable[[], object]) -> bytes:
    """A task for `do_all`; Dask weighs and packs other things than bytes member by member."""
    return pickle.dumps(call)


def do_all(calls: Sequence[bytes]) -> bytes:
    """Do the tasks of a batch, on a worker: the first, and others while there is time.

    What is raised by one concerns no other; those for which there is no time are displaced.
    """
    until = time.monotonic() + BATCH_SECONDS
    results: list[object] = []
    for call in calls:
        if results and time.monotonic() > until:
            results.append(Displaced())
            continue
        try:
            results.append(pickle.loads(call)())
        except Exception as error:  # told to whoever gave the task, as if it had come alone
            results.append(in_a_sentence(error))
    return pickle.dumps(results)


def unpack(done: bytes, tasks: int) -> list[Any]:
    """For each of so many tasks its result, or the exception to raise.

    Raises:
        Exception: of whatever kind, when that is not what `do_all` of this version returns.
    """
    results: list[Any] = pickle.loads(done)
    if len(results) != tasks:
        raise ValueError(f"{len(results)} results of {tasks} tasks")
    return results


def in_a_sentence(error: Exception) -> CannotGrade:
    """What a run understands; an exception of any other kind might not even survive the journey."""
    if isinstance(error, CannotGrade):
        return error
    return CannotGrade(
        f"A Dask worker cannot grade ({type(error).__name__}: {printable(str(error))}). Is the "
        "same version of backprop-ninja installed there?"
    )
