"""Runs that are ended in every way, and gone on with."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from corpus.readers.places import PROJECT
from grader.classroom.run.line import Line
from grader.classroom.run.results import EXPORT, BrokenResults, Results
from tests.helpers.fake_grading import AT_WORK, LOG, make_class
from tests.helpers.processes import descendants, left_over

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")

FILES = 240
KILLS = 6
SECONDS = 600


class Class:
    """A class of fake notebooks, and the program that grades it."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.results, self.log = (
            folder / name for name in ("class", "results.sqlite", "log")
        )
        make_class(self.folder, {f"{number:03}": "slow" for number in range(FILES)})

    def start(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [
                sys.executable,
                "-m",
                "tests.helpers.fake_grading",
                self.folder,
                self.results,
            ],
            cwd=PROJECT,
            env={**os.environ, LOG: str(self.log)},
            start_new_session=True,
            stderr=subprocess.DEVNULL,
        )

    def lines(self) -> list[Line]:
        """In the order of the files, also while a run goes on."""
        with suppress(OSError, BrokenResults), Results(self.results) as results:
            return list(results.lines())
        return []

    def wait_for(self, count: int, process: subprocess.Popen[bytes]) -> None:
        until = time.monotonic() + SECONDS
        while len(self.lines()) < count and process.poll() is None:
            assert time.monotonic() < until, "the run does not get on"
            time.sleep(0.005)

    def graded(self) -> Counter[str]:
        """How often each file was graded."""
        return Counter(self.log.read_text().split())


@pytest.fixture
def klass(tmp_path: Path) -> Class:
    return Class(tmp_path)


@pytest.mark.slow
def test_a_run_that_is_killed_again_and_again_loses_nothing(klass: Class) -> None:
    chance = random.Random(5)
    kept: list[Line] = []
    for kills in range(KILLS):
        process = klass.start()
        klass.wait_for(len(kept) + chance.randint(0, 15), process)
        assert process.poll() is None
        time.sleep(chance.random() * 0.05)  # in the middle of anything
        below = descendants(process.pid)
        process.kill()
        process.wait()
        assert not left_over(below), f"after kill {kills}"
        now = klass.lines()
        assert all(line in now for line in kept)
        kept = now
    assert 0 < len(kept) < FILES, "the kills came too early or too late to mean anything"
    process = klass.start()
    assert process.wait(SECONDS) == 0
    lines = klass.lines()
    assert [line.file.id for line in lines] == [f"{number:03}" for number in range(FILES)]
    assert all(line in lines for line in kept)
    exported = klass.results.with_name(EXPORT).read_bytes().splitlines()
    assert [json.loads(line)["id"] for line in exported] == [line.file.id for line in lines]
    # What was under way when a run was killed is graded again, and nothing else.
    assert sum(klass.graded().values()) <= FILES + KILLS * AT_WORK


@pytest.mark.slow
def test_a_run_whose_processes_are_all_killed_gives_the_same_results(klass: Class) -> None:
    once = klass.start()
    assert once.wait(SECONDS) == 0
    first = klass.lines()
    klass.results.unlink()
    again = klass.start()
    klass.wait_for(20, again)
    below = descendants(again.pid)
    assert len(below) >= 4  # two of the pool, the one that forks them, one that tidies up
    for process in below:
        with suppress(ProcessLookupError):  # the one that forks them took it along
            os.kill(process, signal.SIGKILL)
    assert again.wait(SECONDS) == 0
    assert [replace(line, run=first[0].run) for line in klass.lines()] == [
        replace(line, run=first[0].run) for line in first
    ]


@pytest.mark.slow
def test_processes_of_the_pool_that_are_killed_are_replaced(klass: Class) -> None:
    process = klass.start()
    killed = 0
    for count in range(10, 100, 10):
        klass.wait_for(count, process)
        pool = {line.run.worker for line in klass.lines()}
        for worker in pool:
            number = int(re.findall(r"\d+$", worker)[0])
            if number in descendants(process.pid):
                os.kill(number, signal.SIGKILL)
                killed += 1
    assert process.wait(SECONDS) == 0
    assert killed >= 5
    lines = klass.lines()
    assert len(lines) == FILES
    assert not any(line.error for line in lines)
    assert sum(klass.graded().values()) <= FILES + killed


@pytest.mark.slow
def test_a_class_with_killers_in_it_is_graded_all_the_same(tmp_path: Path) -> None:
    klass = Class(tmp_path)
    killers = {f"{number:03}": "die" for number in (0, 60, 61, 149)}
    make_class(klass.folder, killers | {"100": f"die-once {tmp_path / 'dead'}"})
    assert klass.start().wait(SECONDS) == 0
    lines = {line.file.id: line for line in klass.lines()}
    assert len(lines) == FILES
    assert {key for key, line in lines.items() if line.error} == set(killers)
    assert {lines[key].flags[0].kind for key in killers} == {"killed"}
    assert sum(klass.graded().values()) == FILES - len(killers)
