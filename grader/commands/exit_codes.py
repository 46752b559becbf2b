"""How `grader` ends: its exit codes, the signals that ask it to."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

PASSED = 0
"""Every gradient of every notebook passes; or a command that gives no verdict has done its work."""
NOT_PASSED = 1
"""Something is to do, carried, fails, errs or is refused; or was left undone."""
UNREADABLE = 2
"""A file could not be read as one of the course's notebooks, or a report could not be written."""
INTERRUPTED = 130
"""Ctrl-C, as shells report it."""


@contextmanager
def on_end_signals(handle: Callable[[int, FrameType | None], None]) -> Iterator[None]:
    """Call `handle` at Ctrl-C, a closed terminal or a polite kill, as long as the block runs."""
    names = ("SIGINT", "SIGTERM", "SIGHUP")
    signals = [getattr(signal, name) for name in names if hasattr(signal, name)]
    before = [signal.signal(number, handle) for number in signals]
    try:
        yield
    finally:
        for number, handler in zip(signals, before, strict=True):
            signal.signal(number, handler)
