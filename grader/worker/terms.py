"""Terms: what the judge and a worker agree on, to be imported without torch."""

from __future__ import annotations

from dataclasses import dataclass

DYNAMIC_NAMES = frozenset(
    {"exec", "eval", "globals", "locals", "vars", "setattr", "delattr", "__import__", "compile"}
)
"""With one of these, what a statement does cannot be read off its text."""

MARK = "<at>"
"""The function that is called before each statement of a block that is recorded; no Python name."""

HUNG = "did not end within"
"""So begins what is said of a statement that had to be killed for the time it took."""

NO_THREADS = (
    "Threads, pools and profilers do not run in the grader. Write the loop plainly, without them."
)
"""What is said of a line that starts one."""

LARGEST_REQUEST = 2**30
"""Bytes."""

MOST_VALUES = 8
"""How many sets of values a worker keeps, the latest ones; the judge counts along."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What an answer may use: seconds for a statement and for all, bytes of memory."""

    statement_seconds: float = 10.0
    total_seconds: float = 60.0
    memory_bytes: int = 2 * 2**30
