"""How much faster two workers are than one, with concurrent.futures and with Dask."""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.class_of_students import Class, write_class
from benchmarks.grade_command import at_least, grade
from benchmarks.grade_command.process import ROOT

GOAL = 1.8
STARTING = 20
BEHIND = 40
ROUNDS = 6
PATIENCE_SECONDS = 60.0

LEAN = {
    "DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED": "False",
    "DASK_DISTRIBUTED__ADMIN__TICK__INTERVAL": "1s",
}
"""What the guide sets for Dask, where scheduler and workers start."""


@dataclass(frozen=True, slots=True)
class Engine:
    """What it is called, and whether it is Dask; what is set for that."""

    called: str
    is_dask: bool
    settings: Mapping[str, str] = field(default_factory=dict)


ENGINES = {
    "local": Engine("concurrent.futures", is_dask=False),
    "dask": Engine("Dask, with the guide's settings", is_dask=True, settings=LEAN),
    "dask-unset": Engine("Dask, as it comes", is_dask=True),
}


@dataclass(frozen=True, slots=True)
class Pace:
    """Seconds of runs, and of the parts of them in which all workers are at work."""

    whole: float = 0.0
    under_way: float = 0.0
    graded: int = 0
    """Submissions in those parts."""

    def __add__(self, other: Pace) -> Pace:
        return Pace(
            self.whole + other.whole,
            self.under_way + other.under_way,
            self.graded + other.graded,
        )

    @property
    def rate(self) -> float:
        return self.graded / self.under_way


@contextmanager
def cluster(workers: int, settings: Mapping[str, str]) -> Iterator[str]:
    """The address of a Dask scheduler on loopback with that many worker processes."""
    environment = {**os.environ, **settings}
    dask = [sys.executable, "-m", "dask"]
    with tempfile.TemporaryDirectory() as folder:
        told = Path(folder) / "scheduler.json"
        found = ["--scheduler-file", str(told), "--no-dashboard"]
        commands = [[*dask, "scheduler", "--host", "127.0.0.1", "--port", "0", *found]]
        commands += [
            [
                *(*dask, "worker", "--nworkers", "1", "--nthreads", "1", *found),
                *("--host", "127.0.0.1", "--local-directory", folder),
            ]
            for _ in range(workers)
        ]
        processes: list[subprocess.Popen[bytes]] = []
        try:
            for command in commands:
                with (Path(folder) / f"said-{len(processes)}.txt").open("w") as said:
                    processes.append(
                        subprocess.Popen(
                            command, cwd=ROOT, env=environment, stdout=said, stderr=said
                        )
                    )
                _wait_for(told)
            address = str(json.loads(told.read_text(encoding="utf-8"))["address"])
            _wait_for_workers(address, workers)
            yield address
        finally:
            for process in reversed(processes):
                process.terminate()
            for process in processes:
                process.wait()


def _wait_for(path: Path) -> None:
    until = time.monotonic() + PATIENCE_SECONDS
    while not (path.is_file() and path.stat().st_size):
        if time.monotonic() > until:
            raise TimeoutError(f"Dask's scheduler has not written {path}.")
        time.sleep(0.1)


def _wait_for_workers(address: str, workers: int) -> None:
    from distributed import Client

    with Client(address, set_as_default=False) as client:
        client.wait_for_workers(workers, timeout=PATIENCE_SECONDS)


def measure(folder: Path, out: Path, size: int, workers: int, engine: Engine) -> Pace:
    """Grade a class; neither the start counts, nor the end, where not all have work."""
    moments = (STARTING, size - BEHIND)
    if engine.is_dask:
        with cluster(workers, engine.settings) as scheduler:
            run = grade(folder, out, scheduler=scheduler, moments=moments)
    else:
        run = grade(folder, out, jobs=workers, moments=moments)
    begun, ended = (run.moments[lines] for lines in moments)
    return Pace(run.seconds, ended.seconds - begun.seconds, ended.lines - begun.lines)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print how much faster, for each engine."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=300)
    parser.add_argument("--engine", choices=[*ENGINES, "all"], default="all")
    options = parser.parse_args(arguments)
    if options.size <= STARTING + BEHIND:
        parser.error(f"--size is to be more than {STARTING + BEHIND}")
    chosen = [*ENGINES] if options.engine == "all" else [options.engine]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_class(folder / "class", Class(options.size))
        for key in chosen:
            engine = ENGINES[key]
            if engine.is_dask and importlib.util.find_spec("distributed") is None:
                print("grade_two_workers: Dask is missing: pip install '.[dask]'.")
                continue
            # In turns: the machine is faster at one minute than at the next.
            paces = {1: Pace(), 2: Pace()}
            for number in range(ROUNDS):
                for workers in paces:
                    out = folder / f"out-{key}-{workers}-{number}"
                    paces[workers] += measure(folder / "class", out, options.size, workers, engine)
            one, two = paces.values()
            ratio = two.rate / one.rate
            print(
                f"grade_two_workers: {engine.called}: one {one.rate:.1f} submissions a second, "
                f"two {two.rate:.1f}: {ratio:.2f} times {at_least(ratio, GOAL, ' times')}; the "
                f"whole command {one.whole:.1f} s and {two.whole:.1f} s: "
                f"{one.whole / two.whole:.2f} times",
                flush=True,
            )


if __name__ == "__main__":
    main()
