"""What a process of the local pool does beside its tasks."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import ParamSpec, Protocol, TypeVar

from grader.bulk.failures import Displaced

P = ParamSpec("P")
T = TypeVar("T")


class SharedNumber(Protocol):
    """A number in memory that two processes share."""

    value: int


_withdrawn: SharedNumber  # from `settle_in`


def settle_in(leash: Connection, withdrawn: SharedNumber) -> None:
    """Begin a process of the pool.

    Args:
        leash: a pipe; when it is closed, this process ends.
        withdrawn: the last task that is not to be begun any more.
    """
    global _withdrawn
    _withdrawn = withdrawn
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with suppress(OSError):
        # Should memory run out, this process is to be killed, and not the one that keeps the books.
        Path("/proc/self/oom_score_adj").write_text("500")
    threading.Thread(target=_end_with, args=(leash,), daemon=True).start()


def begin(ready: Callable[[], object]) -> int:
    """Get ready; the process's number is returned."""
    ready()
    return os.getpid()


def within(
    seconds: float, number: int, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs
) -> T:
    """Do a task; should it take far too long, the process ends, and nobody need be there to end it.

    A signal's own work is done by the system: not even a hopeless regular expression, which lets no
    other thread of the process run, is in its way.

    Raises:
        Displaced: the task was withdrawn before it was begun.
    """
    if number <= _withdrawn.value:
        raise Displaced
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, seconds + 1.0)
    try:
        return fn(*args, **kwargs)
    finally:
        if hasattr(signal, "setitimer"):
            signal.setitimer(signal.ITIMER_REAL, 0.0)


def _end_with(leash: Connection) -> None:
    wait([leash])
    os._exit(1)  # whatever the process is at; its worker ends when the pipes between them do
