"""Which of several files of one notebook counts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from fractions import Fraction
from typing import Any

from grader.classroom.gradebook.table import FileResult

RESOLUTION = 2.0
"""Seconds: zip files keep times in steps of two, and a folder that was copied has the times of the
copy. Files that are no further apart may be in any order."""


class Attempts(StrEnum):
    """What decides between several files of one student for one notebook."""

    LATEST = "latest"
    BEST = "best"
    FIRST = "first"


def in_order(files: Sequence[FileResult]) -> tuple[FileResult, ...]:
    """The files, the oldest first: by the platform's times, else by the files' own, else by name.

    A file of which the platform gives no time is older than those of which it does.
    """
    if len(files) < 2:
        return tuple(files)
    keys = [key for _, key in _criteria(files)]
    return tuple(sorted(files, key=lambda file: tuple(key(file) for key in keys)))


def choose(
    files: Sequence[FileResult], earns: Mapping[str, Fraction], which: Attempts
) -> tuple[FileResult, str]:
    """The file that counts of several, and why, as the end of "taken: ".

    Args:
        files: the files, at least two, the oldest first.
        earns: what each would earn, by its id.
        which: what decides.
    """
    if which is Attempts.FIRST:
        return files[0], f"the first {_by(files, files[0])}"
    if which is Attempts.LATEST:
        return files[-1], f"the latest {_by(files, files[-1])}"
    most = max(earns[file.id] for file in files)
    best = [file for file in files if earns[file.id] == most]
    if len(best) == 1:
        return best[0], "the one with the most points"
    return best[-1], f"the latest ({_by(best, best[-1])}) of several that share the most points"


def _criteria(files: Sequence[FileResult]) -> list[tuple[str, Callable[[FileResult], Any]]]:
    times = [file.modified for file in files if file.modified is not None]
    tells = len(times) == len(files) and max(times, default=0) - min(times, default=0) > RESOLUTION
    # With --file-times the files' own times stand where a platform's would.
    own = all(_handed_in(file) == file.modified for file in files)
    return [
        *([] if own else [("by the time it was handed in", _handed_in)]),
        *([("by the file's own time", lambda file: file.modified)] if tells else []),
        ("by its name", lambda file: (file.attempt, file.id)),
    ]


def _handed_in(file: FileResult) -> float:
    return datetime.fromisoformat(file.submitted).timestamp() if file.submitted else 0.0


def _by(files: Sequence[FileResult], chosen: FileResult) -> str:
    """The first thing in which the chosen file differs from all the others."""
    for by, key in _criteria(files):
        if all(key(file) != key(chosen) for file in files if file is not chosen):
            return by
    return "by its name"
