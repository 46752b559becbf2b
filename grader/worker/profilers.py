"""Profilers: they run in an answer, and measure nothing."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any


def measure_nothing(torch: Any) -> None:
    """Let a profiler around right lines run them.

    PyTorch's has a thread of its own, which no child may start; Python's would see into functions
    that are not the answer's.
    """
    older, newer = torch.autograd.profiler, torch.profiler.profiler
    for name in ("_prepare_profiler", "_enable_profiler", "_disable_profiler"):
        setattr(older, name, _nothing)
    older.kineto_available = newer.kineto_available = _nothing
    # It would ask the compiler, whose source is kept from answers, for a setting.
    vars(torch)["_lazy_modules"].discard("_inductor")
    native: Any = SimpleNamespace(Profiler=Profiler)
    sys.modules["_lsprof"] = native


def _nothing(*_: object, **__: object) -> None:
    """Stands in for what begins or ends a measurement."""


class Profiler:
    """What `cProfile.Profile` is made from."""

    def __init__(self, *_: object, **__: object) -> None:
        """It needs no timer."""

    enable = disable = clear = _nothing

    def getstats(self) -> list[Any]:
        """No function was called."""
        return []
