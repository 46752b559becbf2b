"""How `grader` ends: its exit codes, and the signals that end it."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

PASSED = 0
"""Every gradient of every notebook passes, or a command without verdicts has done its work."""
NOT_PASSED = 1
"""A gradient is to do, carried, wrong, in error or refused, or some work was not done."""
UNREADABLE = 2
"""A file could not be read as one of the course's notebooks, or a report could not be written."""
INTERRUPTED = 130
"""Ctrl-C, with the number that shells give it."""


@contextmanager
def on_end_signals(handle: Callable[[int, FrameType | None], None]) -> Iterator[None]:
    """While the block runs, call `handle` at Ctrl-C, a closed terminal or a polite kill."""
    names = ("SIGINT", "SIGTERM", "SIGHUP")
    signals = [getattr(signal, name) for name in names if hasattr(signal, name)]
    before = [signal.signal(number, handle) for number in signals]
    try:
        yield
    finally:
        for number, handler in zip(signals, before, strict=True):
            signal.signal(number, handler)
