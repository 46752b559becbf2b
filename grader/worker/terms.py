"""Terms: what the judge and a worker agree on, to be imported without torch."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass

LINUX = sys.platform.startswith("linux") and hasattr(os, "fork")
"""Whether this is Linux, with all that confines an answer there."""

DYNAMIC_NAMES = frozenset(
    {"exec", "eval", "globals", "locals", "vars", "setattr", "delattr", "__import__", "compile"}
)
"""If a statement uses one of these, its text does not show what it does."""

MARK = "<at>"
"""The function that is called before each statement in a marked block; not a Python name."""

HUNG = "did not end within"
"""The beginning of the message about a statement that was killed because it took too long."""

NO_THREADS = (
    "Threads, pools and profilers do not run in the grader. Write the loop plainly, without them."
)
"""What is said of a line that starts one."""

LARGEST_REQUEST = 2**30
"""Bytes."""

MOST_VALUES = 8
"""How many sets of values a worker keeps, beginning with the latest; the judge counts too."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What an answer may use: seconds for each statement and for all of them, bytes of memory."""

    statement_seconds: float = 10.0
    total_seconds: float = 60.0
    memory_bytes: int = 2 * 2**30
