"""Incidents: exceptions of an answer's statements that a human should know of."""

from __future__ import annotations

from grader.worker.engine import REFUSED

DENIALS = frozenset(
    {
        "PermissionError",
        "BlockingIOError",
        "FileNotFoundError",
        "ConnectionRefusedError",
        "gaierror",
    }
    | {"ProcessLookupError", "OperationalError"}
)
"""Exceptions by which the system, or the sandbox, says no."""


def find_incident(kind: str, message: str) -> tuple[str, str] | None:
    """What a human should know of an exception that a statement raised: kind and sentence.

    Kinds: `autograd`, `memory-limit`, `denied`. Most exceptions are mistakes, and nothing to know.
    """
    if REFUSED in message:
        return "autograd", "A statement reached for PyTorch's autograd while it ran."
    if kind == "MemoryError" or (kind == "RuntimeError" and "allocate memory" in message):
        return "memory-limit", "A statement asked for more memory than an answer may use."
    if kind in DENIALS or (kind == "OSError" and message.startswith("[Errno")):
        return "denied", f"A statement asked the system for what it was denied: {message}."
    return None
