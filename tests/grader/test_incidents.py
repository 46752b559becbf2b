"""Exceptions that a human should know of."""

import pytest

from grader.incidents import find_incident
from grader.worker.engine import REFUSED


@pytest.mark.parametrize(
    ("kind", "message", "expected"),
    [
        ("RuntimeError", REFUSED, "autograd"),
        ("ValueError", f"in f: {REFUSED}", "autograd"),
        ("MemoryError", "", "memory-limit"),
        ("RuntimeError", "DefaultCPUAllocator: can't allocate memory: you tried", "memory-limit"),
        ("PermissionError", "[Errno 13] Permission denied: '/x'", "denied"),
        ("BlockingIOError", "[Errno 11] Resource temporarily unavailable", "denied"),
        ("OSError", "[Errno 30] Read-only file system: '/x'", "denied"),
        ("OSError", "[Errno 101] Network is unreachable", "denied"),
    ],
)
def test_what_was_refused_at_run_time_is_said(kind: str, message: str, expected: str) -> None:
    incident = find_incident(kind, message)
    assert incident is not None
    assert incident[0] == expected
    assert incident[1].startswith("A statement ")


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("NameError", "name 'dh' is not defined"),
        ("RuntimeError", "The size of tensor a (32) must match the size of tensor b (27)"),
        ("TypeError", "unsupported operand type(s)"),
        ("TimeLimit", ""),
    ],
)
def test_a_mistake_is_no_incident(kind: str, message: str) -> None:
    assert find_incident(kind, message) is None
