"""A stop button that takes effect where nothing is left half done."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def stop_button() -> Iterator[Callable[[], bool]]:
    """Turn an interrupt (Ctrl-C, a notebook's stop button) into a question that a loop can ask.

    Python raises KeyboardInterrupt wherever it happens to be, between the updates of two
    parameters, say. Inside this context the first interrupt is only noted, and the loop ends where
    it likes; a second one is raised as usual, for a loop that does not ask.

    >>> with stop_button() as pressed:
    ...     pressed()
    False
    """
    presses = 0

    def note(number: int, frame: FrameType | None) -> None:
        nonlocal presses
        presses += 1
        if presses > 1:
            raise KeyboardInterrupt

    in_main_thread = threading.current_thread() is threading.main_thread()  # they reach no other
    if not in_main_thread or signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        yield lambda: False
        return
    before = signal.signal(signal.SIGINT, note)
    try:
        yield lambda: presses > 0
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Let an interrupt wait until the end of the block.

    For imports: KeyboardInterrupt gets lost, or becomes another error, where it is raised in a
    callback of C code, such as that which forgets a module's lock.
    """
    with stop_button() as pressed:
        yield
    if pressed():
        raise KeyboardInterrupt
