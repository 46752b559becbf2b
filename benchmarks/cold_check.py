"""What a cold `grader check` of one notebook costs beside Python's own `import torch`."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

NOTEBOOK = Path(__file__).parent.parent / "notebooks" / "solutions" / "01_atomic_backprop.ipynb"
REPEATS = 7


@dataclass(frozen=True, slots=True)
class Measurement:
    """Median seconds of either command, measured by turns."""

    importing: float
    checking: float

    @property
    def goal(self) -> float:
        """Seconds a check may take: twice the import and one second."""
        return 2 * self.importing + 1

    @property
    def ratio(self) -> float:
        """The check beside what it may take; at most 1 is wanted."""
        return self.checking / self.goal


def measure(repeats: int = REPEATS) -> Measurement:
    """Time both commands by turns, so that a busy machine slows both down alike."""
    importing, checking = [], []
    for _ in range(repeats):
        importing.append(_seconds("-c", "import torch"))
        checking.append(_seconds("-m", "grader", "check", str(NOTEBOOK)))
    return Measurement(statistics.median(importing), statistics.median(checking))


def _seconds(*arguments: str) -> float:
    start = time.perf_counter()
    subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def main() -> None:
    """Print both times with their ratio."""
    found = measure()
    print(
        f"cold_check: import torch {found.importing:.2f} s, grader check {found.checking:.2f} s:"
        f" {found.ratio:.2f} of the {found.goal:.2f} s it may take (goal: at most 1)."
    )


if __name__ == "__main__":
    main()
