"""A line of results.jsonl: what became of one file handed in."""

from __future__ import annotations

import json
import os
import platform
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from grader.bulk.settings import Settings, installed_versions
from grader.verdict import FORMAT_VERSION

if TYPE_CHECKING:
    from grader.bulk.task import Task

Line = dict[str, Any]

WHOSE = ("id", "student", "file", "sha256", "late", "submitted", "attempt")
"""The keys a line begins with: they come from the folder, the others from grading."""


def begin_line(task: Task) -> Line:
    """The part of a line that says whose it is."""
    return {key: getattr(task, key) for key in WHOSE}


def error_line(task: Task, kind: str, sentence: str, run: Line) -> Line:
    """The line of a file that could not be graded; a human should look at it."""
    flag = {"kind": kind, "line": None, "message": sentence, "cell": None}
    return begin_line(task) | {
        "format": FORMAT_VERSION,
        "error": sentence,
        "flags": [flag],
        "run": run,
    }


def run_member(settings: Settings, seconds: float) -> Line:
    """Who graded, how and when: all that may differ between two runs over one class."""
    return {
        "seconds": round(seconds, 4),
        "worker": f"{platform.node()}-{os.getpid()}",
        "sandbox": settings.sandbox,
        "seed": settings.seed,
        "versions": asdict(installed_versions()),
    }


def pack_line(line: Line) -> bytes:
    """One line, ASCII, with its end."""
    return json.dumps(line, allow_nan=False, separators=(",", ":")).encode("ascii") + b"\n"
