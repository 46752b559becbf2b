"""The distributions of this checkout, built once for all tests of a process."""

from __future__ import annotations

import atexit
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

from corpus.readers.places import PROJECT


@cache
def build() -> tuple[Path, Path]:
    """The sdist, and the wheel that is made from it, as `python -m build` makes them."""
    out = Path(tempfile.mkdtemp(prefix="backprop-ninja-dist-"))
    atexit.register(shutil.rmtree, out, ignore_errors=True)
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(out), str(PROJECT)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    (sdist,), (wheel,) = out.glob("*.tar.gz"), out.glob("*.whl")
    return sdist, wheel
