"""One run of `grader grade`, with all the processes it starts."""

from __future__ import annotations

import csv
import ctypes
import json
import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Collection, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.grade_command.processor_time import Meter, meter

ROOT = Path(__file__).parent.parent.parent

GLANCE_SECONDS = 0.05
COUNT_SECONDS = 0.01
"""How often the lines are counted where a moment is to be caught."""
MOST_SAID = 4000
PATIENCE_SECONDS = 30.0
"""How long what the command leaves behind may take to end."""

_SET_CHILD_SUBREAPER = 36
"""Of prctl(2): orphans below this process become its children, and so their time is counted."""


class GradeFailed(Exception):
    """The command did not grade the class; the message is what it said."""


@dataclass(frozen=True, slots=True)
class Moment:
    """Seconds since the command began, those its processes have used together, and lines so far."""

    seconds: float
    processor: float
    lines: int


@dataclass(frozen=True, slots=True)
class Graded:
    """What a run cost, start-up and gradebook included, and where its results are.

    `processor` are seconds of all processes together; `memory` is the most that the command's own
    process, without the others, has had resident, in bytes. `moments` are those at which
    there were as many results as were asked for, or more: they may come in lumps.
    """

    seconds: float
    processor: float
    memory: int
    out: Path
    moments: Mapping[int, Moment]

    def lines(self) -> Iterator[dict[str, Any]]:
        """The lines of results.jsonl, one by one: a large class's need gigabytes at once."""
        with (self.out / "results.jsonl").open(encoding="ascii") as file:
            for line in file:
                yield json.loads(line)

    def rows(self) -> list[dict[str, str]]:
        """The rows of grades.csv."""
        with (self.out / "grades.csv").open(encoding="utf-8-sig", newline="") as file:
            return list(csv.DictReader(file))


def grade(
    folder: Path,
    out: Path,
    *,
    jobs: int | None = None,
    scheduler: str | None = None,
    timeout: float | None = None,
    sandbox: str | None = None,
    seed: int = 1,
    moments: Collection[int] = (),
) -> Graded:
    """Grade a class; raises GradeFailed where that came to nothing.

    `moments` are numbers of results: when there are so many is to be caught.
    """
    words = [sys.executable, "-m", "grader", "grade", str(folder), "--out", str(out)]
    options = {
        "--jobs": jobs,
        "--scheduler": scheduler,
        "--timeout": timeout,
        "--sandbox": sandbox,
        "--seed": seed,
    }
    for option, value in options.items():
        words += [option, str(value)] if value is not None else []
    with meter() as processors:
        clock = _Clock(out / "results.sqlite", processors, sorted(moments))
        with _adopting_orphans():
            seconds, memory, status, said = _run(words, processors, clock)
        processor = processors.seconds()
    if status or not (out / "results.jsonl").is_file():
        raise GradeFailed(f"{' '.join(words)} gave {status}:\n{said.decode(errors='replace')}")
    if missed := sorted(set(moments) - clock.caught.keys()):
        raise GradeFailed(f"{' '.join(words)} never had this many results: {missed}")
    return Graded(seconds, processor, memory, out, clock.caught)


class _Clock:
    """Catches the moments at which a run has so many results."""

    def __init__(self, file: Path, processors: Meter, wanted: list[int]) -> None:
        self.file, self.processors, self.wanted = file.absolute(), processors, wanted
        self.caught: dict[int, Moment] = {}
        self._lines = 0
        self._start = time.perf_counter()

    @property
    def waits(self) -> bool:
        """Whether there is a moment to come."""
        return len(self.caught) < len(self.wanted)

    def look(self) -> None:
        """Count the results."""
        address = f"{self.file.as_uri()}?mode=ro"
        with (
            suppress(sqlite3.OperationalError),  # not there yet
            closing(sqlite3.connect(address, uri=True)) as database,
        ):
            (self._lines,) = database.execute("SELECT count(*) FROM result").fetchone()
        for number in self.wanted[len(self.caught) :]:
            if number > self._lines:
                break
            seconds = time.perf_counter() - self._start
            self.caught[number] = Moment(seconds, self.processors.seconds(), self._lines)


def _run(words: list[str], processors: Meter, clock: _Clock) -> tuple[float, int, int, bytes]:
    """Seconds, the most memory, the exit status, and the end of what was said."""
    start = time.perf_counter()
    process = subprocess.Popen(
        words,
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        preexec_fn=processors.enter,
    )
    assert process.stdout is not None
    os.set_blocking(process.stdout.fileno(), False)
    memory, said = 0, b""
    while process.poll() is None:
        memory = max(memory, _most_memory(process.pid))
        processors.glance(process.pid)
        said = (said + (process.stdout.read() or b""))[-MOST_SAID:]
        until = time.perf_counter() + GLANCE_SECONDS
        while clock.waits and time.perf_counter() < until:
            clock.look()
            time.sleep(COUNT_SECONDS)
        time.sleep(max(0.0, until - time.perf_counter()))
    seconds = time.perf_counter() - start
    said += process.stdout.read() or b""
    process.stdout.close()
    return seconds, memory, process.returncode, said[-MOST_SAID:]


@contextmanager
def _adopting_orphans() -> Iterator[None]:
    """Be the parent of what the command leaves behind, and wait for that to end."""
    others, prctl = _children(), ctypes.CDLL(None).prctl
    prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    try:
        yield
        _wait_for_orphans(others)
    finally:
        prctl(_SET_CHILD_SUBREAPER, 0, 0, 0, 0)


def _children() -> set[int]:
    texts = [path.read_text() for path in Path("/proc/self/task").glob("*/children")]
    return {int(number) for text in texts for number in text.split()}


def _wait_for_orphans(others: set[int]) -> None:
    """Reap what the command left behind, so that its processor time is in the sum."""
    until = time.monotonic() + PATIENCE_SECONDS
    while left := _children() - others:
        for process in left:
            os.waitpid(process, os.WNOHANG)
        if time.monotonic() > until:
            raise GradeFailed(f"{len(left)} processes outlive `grader grade` by far.")
        time.sleep(GLANCE_SECONDS)


def _most_memory(process: int) -> int:
    """The peak of a process so far, in bytes; 0 where it has just ended."""
    try:
        status = Path(f"/proc/{process}/status").read_text()
    except OSError:
        return 0
    lines = (line.split() for line in status.splitlines())
    return next((int(line[1]) * 1024 for line in lines if line[:1] == ["VmHWM:"]), 0)
