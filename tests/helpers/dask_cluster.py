"""A Dask cluster on this machine, for tests."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

from corpus.readers.places import PROJECT

SECONDS = 600.0


class Cluster:
    """Processes started from the command line, as an instructor does it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.file = folder / "scheduler.json"
        self._all: list[subprocess.Popen[bytes]] = []
        self.scheduler = self._start("scheduler", "--host", "127.0.0.1", "--port", "0")
        until = time.monotonic() + SECONDS
        while True:
            assert time.monotonic() < until, self.said()
            with suppress(FileNotFoundError, ValueError):
                self.address = json.loads(self.file.read_text())["address"]
                return
            time.sleep(0.05)

    def add_worker(self, threads: int = 1) -> subprocess.Popen[bytes]:
        return self._start(
            *("worker", "--nthreads", str(threads), "--no-nanny", "--host", "127.0.0.1"),
            *("--local-directory", str(self.folder)),
        )

    def _start(self, *arguments: str) -> subprocess.Popen[bytes]:
        with (self.folder / "said").open("ab") as said:
            process = subprocess.Popen(
                [
                    *(sys.executable, "-m", "dask", *arguments),
                    *("--scheduler-file", str(self.file), "--no-dashboard"),
                ],
                env={**os.environ, "PYTHONPATH": str(PROJECT)},
                stdout=said,
                stderr=said,
            )
        self._all.append(process)
        return process

    def said(self) -> str:
        return (self.folder / "said").read_text()

    def close(self) -> None:
        for process in self._all:
            process.kill()
            process.wait()
