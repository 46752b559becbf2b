"""How long `grader watch` takes from a save to its verdict on the screen, once warm."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import statistics
import struct
import subprocess
import sys
import tempfile
import termios
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import nbformat

from corpus.readers.exercise_text import GRADIENTS, right_answers
from grader.authoring.blank import fill

BLANK = Path(__file__).parent.parent / "notebooks" / "01_atomic_backprop.ipynb"
SAVES = 60
WARMING = 6
GOAL_MILLISECONDS = 300
ROWS, COLUMNS = 40, 100
PATIENCE_SECONDS = 60.0
ALL_RIGHT, ONE_WRONG = b"26 of 26 points", "✗ 1 fail".encode()


@dataclass(frozen=True, slots=True)
class Times:
    """Milliseconds of some saves."""

    milliseconds: tuple[float, ...]

    @property
    def p95(self) -> float:
        return statistics.quantiles(self.milliseconds, n=20, method="inclusive")[-1]

    def __str__(self) -> str:
        middle, most = statistics.median(self.milliseconds), max(self.milliseconds)
        return f"median {middle:4.0f} ms, 95th percentile {self.p95:4.0f} ms, most {most:4.0f} ms"


class Terminal:
    """A pseudo-terminal that `grader watch` draws on."""

    def __init__(self, notebook: Path) -> None:
        self._screen, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        self._process = subprocess.Popen(
            [sys.executable, "-m", "grader", "watch", str(notebook)],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env=os.environ | {"TERM": "xterm-256color", "PYTHONIOENCODING": "utf-8"},
        )
        os.close(theirs)

    def forget(self) -> None:
        """Drop what was drawn so far."""
        while select.select([self._screen], [], [], 0)[0]:
            os.read(self._screen, 65536)

    def wait_for(self, text: bytes) -> None:
        """Return as soon as `text` is drawn; raises TimeoutError if it never is."""
        drawn, until = b"", time.monotonic() + PATIENCE_SECONDS
        while text not in drawn:
            if not select.select([self._screen], [], [], until - time.monotonic())[0]:
                raise TimeoutError(f"{text.decode()!r} is not on the screen:\n{drawn.decode()}")
            drawn += re.sub(rb"\x1b\[[0-9;]*m", b"", os.read(self._screen, 65536))

    def processor_seconds(self) -> float:
        """What it and its worker have used so far; 0 where the system does not tell."""
        return sum(map(_processor_seconds, _with_children(self._process.pid)))

    def close(self) -> int:
        """Press Ctrl-C; returns the exit status."""
        self._process.send_signal(signal.SIGINT)
        while self._process.poll() is None:
            self.forget()
            time.sleep(0.02)
        os.close(self._screen)
        return self._process.returncode


def _with_children(process: int) -> list[int]:
    try:
        text = Path(f"/proc/{process}/task/{process}/children").read_text()
    except OSError:
        return []
    return [process, *(each for child in text.split() for each in _with_children(int(child)))]


def _processor_seconds(process: int) -> float:
    # after the name in brackets: user, system, and the same of the children that have ended
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def watching(notebook: Path) -> Iterator[Terminal]:
    terminal = Terminal(notebook)
    try:
        yield terminal
    finally:
        terminal.close()


def save(notebook: Path, text: str, in_place: bool) -> None:
    """Write as editors do: into the file, or a new one into its place."""
    if in_place:
        notebook.write_text(text, encoding="utf-8")
        return
    new = notebook.with_suffix(".tmp")
    new.write_text(text, encoding="utf-8")
    new.replace(notebook)


def with_fault(answers: str, gradient: str) -> str:
    """The answers with one gradient doubled."""
    faulty, number = re.subn(rf"(?m)^({gradient} = )(.*)$", r"\g<1>2 * (\g<2>)", answers, count=1)
    if number and f"{gradient} = torch.zeros" not in answers:
        return faulty
    return f"{answers}\n{gradient} = 2 * {gradient}\n"


def measure(saves: int = SAVES) -> tuple[dict[str, Times], float]:
    """Save a right notebook and one with a fault, by turns; each fault in another gradient.

    Returns:
        The times from save to verdict; and milliseconds of processor time a save, which a busy
        machine changes less.
    """
    blank, answers = nbformat.read(BLANK, as_version=4), right_answers()["lecture"]
    right = nbformat.writes(fill(blank, answers))
    found: dict[str, list[float]] = {"right": [], "one fault": []}
    with tempfile.TemporaryDirectory() as folder:
        notebook = Path(folder) / BLANK.name
        notebook.write_text(right, encoding="utf-8")
        with watching(notebook) as terminal:
            terminal.wait_for(ALL_RIGHT)
            used = 0.0
            for number in range(WARMING + saves):
                if number == WARMING:
                    used = terminal.processor_seconds()
                gradient = GRADIENTS[number // 2 % len(GRADIENTS)]
                faulty = number % 2 == 0
                text = (
                    nbformat.writes(fill(blank, with_fault(answers, gradient))) if faulty else right
                )
                time.sleep(0.2)  # nobody saves faster; and the screen is to be still
                terminal.forget()
                start = time.perf_counter()
                save(notebook, text, in_place=number % 4 < 2)
                terminal.wait_for(ONE_WRONG if faulty else ALL_RIGHT)
                if number >= WARMING:
                    kind = "one fault" if faulty else "right"
                    found[kind].append((time.perf_counter() - start) * 1e3)
            used = terminal.processor_seconds() - used
    return {kind: Times(tuple(times)) for kind, times in found.items()}, used / saves * 1e3


def main() -> None:
    """Print the percentiles."""
    found, processor = measure()
    for kind, times in found.items():
        print(f"watch: {kind:9s} {times}")
    every = Times(tuple(value for times in found.values() for value in times.milliseconds))
    print(f"watch: all       {every}: {every.p95 / GOAL_MILLISECONDS:.2f} of the goal (at most 1)")
    if processor:
        print(f"watch: processor time a save {processor:.0f} ms")


if __name__ == "__main__":
    main()
