"""What a class of 100,000 needs once it is graded: to go on with, to write, to compare.

A small class is really graded. Its notebooks and results are repeated and varied: gradients change
places between results, wrong values become new ones. So nothing of the large class is graded, but
all the rest is done as `grader grade` and `grader compare` do it.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks.large_class.made import really_graded, write_large_class

ROOT = Path(__file__).parent.parent
REALLY_GRADED = 120


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a line for each stage."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=100_000)
    parser.add_argument("--keep", type=Path, help="a folder for what is made, to look at")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as name:
        folder = options.keep or Path(name)
        real = really_graded(folder / "real", REALLY_GRADED)
        write_large_class(folder / "class", real, options.size)
        write_large_class(folder / "later", real, options.size, seed=1, notebooks=False)
        # A process for each: what one has in memory is not the next one's.
        for measured in ("go_on", "go_on", "compare"):
            command = [sys.executable, "-m", "benchmarks.large_class.stages", measured, folder]
            subprocess.run(command, check=True, cwd=ROOT)


if __name__ == "__main__":
    main()
