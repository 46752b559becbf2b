"""Processes as /proc shows them, for tests that nothing is left behind."""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path

PATIENCE_SECONDS = 300.0


def descendants(ancestor: int) -> dict[int, str]:
    """The processes below one, each with the time it was started, so that a number used again is
    not taken for it."""
    found: dict[int, str] = {}
    parents = {process: parent for process, parent, _ in _all()}
    started = {process: start for process, _, start in _all()}
    for process in parents:
        above = process
        while above in parents and above != ancestor:
            above = parents[above]
        if above == ancestor and process != ancestor and process in started:
            found[process] = started[process]
    return found


def left_over(processes: dict[int, str]) -> list[str]:
    """Those of the processes that are still there after a while, by their command lines."""
    until = time.monotonic() + PATIENCE_SECONDS
    while True:
        now = {process: start for process, _, start in _all()}
        there = [process for process, start in processes.items() if now.get(process) == start]
        if not there or time.monotonic() > until:
            return [_command(process) for process in there]
        time.sleep(0.05)


def alive(processes: Iterable[int]) -> bool:
    """Whether any of them runs."""
    return bool(set(processes) & {process for process, _, _ in _all()})


def _all() -> Iterable[tuple[int, int, str]]:
    """Number, parent and time of start of each process that is not a zombie."""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if fields[0] != "Z":
            yield int(folder.name), int(fields[1]), fields[19]


def _command(process: int) -> str:
    try:
        return (Path("/proc") / str(process) / "cmdline").read_text().replace("\0", " ")[:200]
    except OSError:
        return ""
