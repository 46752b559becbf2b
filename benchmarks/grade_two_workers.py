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
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
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
"""What the README sets for Dask, where scheduler and workers start."""

ENGINES: Mapping[str, tuple[str, Mapping[str, str] | None]] = {
    "local": ("concurrent.futures", None),
    "dask": ("Dask, with the README's settings", LEAN),
    "dask-unset": ("Dask, as it comes", {}),
}
"""For each engine what it is called, and if it is Dask, what is set for it."""


@dataclass(frozen=True, slots=True)
class Pace:
    """Seconds of a whole run, and of a part of it in which all workers are at work."""

    whole: float
    under_way: float


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
            yield str(json.loads(told.read_text(encoding="utf-8"))["address"])
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


def measure(
    folder: Path, out: Path, size: int, workers: int, settings: Mapping[str, str] | None
) -> Pace:
    """Grade a class; neither the start counts, nor the end, where not all have work."""
    with nullcontext() if settings is None else cluster(workers, settings) as scheduler:
        moments = (STARTING, size - BEHIND)
        if scheduler is None:
            run = grade(folder, out, jobs=workers, moments=moments)
        else:
            run = grade(folder, out, scheduler=scheduler, moments=moments)
    begun, ended = (run.moments[lines].seconds for lines in moments)
    return Pace(run.seconds, ended - begun)


def _sum(paces: Sequence[Pace]) -> Pace:
    return Pace(sum(pace.whole for pace in paces), sum(pace.under_way for pace in paces))


def main(arguments: Sequence[str] | None = None) -> None:
    """Print how much faster, for each engine."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=300)
    parser.add_argument("--engine", choices=[*ENGINES, "all"], default="all")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_class(folder / "class", Class(options.size))
        for engine, (called, settings) in ENGINES.items():
            if options.engine not in (engine, "all"):
                continue
            if settings is not None and importlib.util.find_spec("distributed") is None:
                print("grade_two_workers: Dask is not installed: pip install '.[dask]'.")
                continue
            # In turns: the machine is faster at one minute than at the next.
            paces: dict[int, list[Pace]] = {1: [], 2: []}
            for number in range(ROUNDS):
                for workers, found in paces.items():
                    out = folder / f"out-{engine}-{workers}-{number}"
                    found.append(measure(folder / "class", out, options.size, workers, settings))
            one, two = map(_sum, paces.values())
            counted = ROUNDS * (options.size - STARTING - BEHIND)
            ratio = one.under_way / two.under_way
            print(
                f"grade_two_workers: {called}: one {counted / one.under_way:.1f} submissions a "
                f"second, two {counted / two.under_way:.1f}: {ratio:.2f} times "
                f"{at_least(ratio, GOAL, ' times')}; the whole command {one.whole:.1f} s and "
                f"{two.whole:.1f} s: {one.whole / two.whole:.2f} times",
                flush=True,
            )


if __name__ == "__main__":
    main()
