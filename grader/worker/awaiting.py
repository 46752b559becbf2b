"""Awaiting: a loop of asyncio's that needs no socket, as a sandbox has none."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Coroutine
from types import SimpleNamespace
from typing import Any


def run_to_end(coroutine: Coroutine[Any, Any, None]) -> None:
    """Run what awaits to its end, with all that it awaits, though another loop may run here."""
    outer = asyncio._get_running_loop()
    asyncio._set_running_loop(None)
    loop = _Loop()
    try:
        loop.run_until_complete(coroutine)
    finally:
        loop.close()
        asyncio._set_running_loop(outer)


class _Loop(asyncio.BaseEventLoop):
    """A loop that waits for nothing but the clock."""

    def __init__(self) -> None:
        super().__init__()
        self._selector = SimpleNamespace(select=self._sleep)

    def _sleep(self, seconds: float | None) -> None:
        time.sleep(seconds or 0)

    def _process_events(self, _: object) -> None:
        """There are none."""

    def _write_to_self(self) -> None:
        """Nobody sleeps who would have to be woken."""
