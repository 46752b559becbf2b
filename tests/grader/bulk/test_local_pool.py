from __future__ import annotations

import os
import re
import signal
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from grader.bulk.bench import Bench
from grader.bulk.failures import CannotGrade, Died, Displaced
from grader.bulk.local_pool import FALSE_STARTS, HELD_UP_SECONDS, LocalPool
from tests.grader.bulk import fake_grading
from tests.grader.bulk.fake_grading import at_once, drop_dead, make_pool, refuse
from tests.processes import alive

SECONDS = 20.0


def kill_myself() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def hopeless() -> object:
    """Hold on to the interpreter, so that no other thread of the process gets to run."""
    return re.match("(a+)+$", "a" * 60 + "b")


def wait_for(path: Path) -> None:
    while not path.exists():
        time.sleep(0.02)


def note(path: Path) -> None:
    with path.open("a") as file:
        file.write("done\n")


def note_and_wait_for(log: Path, gate: Path) -> None:
    note(log)
    wait_for(gate)


def kill_myself_after(gate: Path) -> None:
    wait_for(gate)
    kill_myself()


def big(data: bytes) -> int:
    return len(data)


@pytest.fixture
def pool() -> Iterator[LocalPool]:
    with make_pool() as pool:
        yield pool


def outcome(future: Future[Any]) -> object:
    error = future.exception(SECONDS)
    return future.result() if error is None else type(error)


def look_after(pool: LocalPool, until: Future[Any]) -> object:
    """Look after a pool as a run does until a task is done or given back."""
    patience = time.monotonic() + SECONDS
    while not until.done() and time.monotonic() < patience:
        pool.look_after()
        time.sleep(0.02)
    return outcome(until)


def test_tasks_are_done_in_other_processes(pool: LocalPool) -> None:
    found = {pool.submit(os.getpid).result(SECONDS) for _ in range(4)}
    assert os.getpid() not in found


def test_a_task_that_kills_its_process_is_blamed_and_no_other(pool: LocalPool) -> None:
    futures: list[Future[Any]] = [pool.submit(time.sleep, 0.3), pool.submit(kill_myself)]
    futures += [pool.submit(os.getpid) for _ in range(2)]
    assert [outcome(future) for future in futures[:2]] == [None, Died]
    # One waited behind the killer, one behind the sleeper.
    assert sorted(isinstance(outcome(future), int) for future in futures[2:]) == [False, True]
    assert Displaced in {outcome(future) for future in futures[2:]}


def test_the_dead_are_replaced(pool: LocalPool) -> None:
    for _ in range(3):
        assert [outcome(pool.submit(kill_myself)) for _ in range(2)] == [Died, Died]
    assert isinstance(outcome(pool.submit(os.getpid)), int)


def test_a_process_killed_while_it_waits_costs_nothing_but_time(pool: LocalPool) -> None:
    victims = {pool.submit(os.getpid).result(SECONDS) for _ in range(8)}
    for victim in victims:
        os.kill(victim, signal.SIGKILL)
    for _ in range(10):
        found = outcome(pool.submit(os.getpid))
        if isinstance(found, int):
            break
        assert found in (Died, Displaced)
    assert isinstance(found, int)
    assert found not in victims


def test_a_process_that_dies_amid_a_large_notebook_holds_nobody_up(pool: LocalPool) -> None:
    first: list[Future[Any]] = [pool.submit(kill_myself) for _ in range(2)]
    rest: list[Future[Any]] = [pool.submit(big, bytes(30 * 2**20)) for _ in range(2)]
    assert [outcome(future) for future in first] == [Died, Died]
    assert {outcome(future) for future in rest} <= {Displaced, Died, 30 * 2**20}


@pytest.mark.parametrize("hang", [partial(time.sleep, 1000), hopeless])
def test_a_task_that_hangs_is_given_up(hang: Callable[[], object]) -> None:
    with make_pool(width=1, patience=0.5) as pool:
        hanging = pool.submit(hang)
        look_after(pool, hanging)
        error = hanging.exception()
    assert isinstance(error, Died)
    assert error.times == 2


def test_a_task_that_hangs_ends_even_when_nobody_ends_it() -> None:
    with make_pool(width=1, patience=0.2) as pool:
        assert outcome(pool.submit(hopeless)) is Died


def test_a_process_starts_when_there_is_work_for_it() -> None:
    with make_pool(width=8) as pool:
        used = {pool.submit(os.getpid).result(SECONDS) for _ in range(6)}
        assert len(used) == 1
        some = [pool.submit(time.sleep, 0.2) for _ in range(3)]
        assert [outcome(future) for future in some] == [None] * 3


def test_what_waits_behind_a_long_task_goes_to_who_has_nothing_to_do(
    pool: LocalPool, tmp_path: Path
) -> None:
    gate, log = tmp_path / "gate", tmp_path / "log"
    long, short = pool.submit(wait_for, gate), pool.submit(time.sleep, 0.1)
    waiting = pool.submit(note, log)
    assert look_after(pool, waiting) is Displaced
    assert not long.done()
    assert outcome(short) is None
    assert outcome(pool.submit(note, log)) is None
    gate.touch()
    assert outcome(long) is None
    # Each process has come to the end of what it was given, and the note was written once.
    rest = [pool.submit(os.getpid) for _ in range(4)]
    assert len({outcome(future) for future in rest}) == 2
    assert log.read_text() == "done\n"


def test_a_long_task_that_dies_is_blamed_and_what_had_waited_behind_it_is_not(
    pool: LocalPool, tmp_path: Path
) -> None:
    gate, log = tmp_path / "gate", tmp_path / "log"
    long, _ = pool.submit(kill_myself_after, gate), pool.submit(time.sleep, 0.1)
    waiting = pool.submit(note, log)
    assert look_after(pool, waiting) is Displaced
    gate.touch()
    assert outcome(long) is Died
    assert [outcome(pool.submit(note, log)) for _ in range(3)] == [None] * 3
    assert log.read_text() == "done\n" * 3


class Behindhand(LocalPool):
    """Hears late of how one task has ended."""

    late: Future[Any] | None = None

    def _settle(self, bench: Bench, outer: Future[Any], inner: Future[Any]) -> None:
        if outer is self.late:
            time.sleep(3 * HELD_UP_SECONDS)
        super()._settle(bench, outer, inner)


def test_a_task_begun_a_moment_before_it_is_taken_away_holds_up_nothing(tmp_path: Path) -> None:
    gates = [tmp_path / "first", tmp_path / "second"]
    log = tmp_path / "log"
    with Behindhand(2, at_once, 60.0, preload=fake_grading.__name__) as pool:
        assert [outcome(f) for f in [pool.submit(time.sleep, 0.2) for _ in range(2)]] == [None] * 2
        pool.late, _ = pool.submit(wait_for, gates[0]), pool.submit(time.sleep, 0.2)
        begun = pool.submit(note_and_wait_for, log, gates[1])
        gates[0].touch()
        assert look_after(pool, begun) is Displaced
        assert log.exists()
        assert outcome(pool.late) is None
        # The other process does all that comes now.
        assert len({outcome(pool.submit(os.getpid)) for _ in range(4)}) == 1
        gates[1].touch()


@pytest.mark.parametrize("hang", [partial(time.sleep, 1000), hopeless])
def test_nothing_is_waited_for_at_the_end(hang: Callable[[], object]) -> None:
    pool = make_pool(width=1)
    process = pool.submit(os.getpid).result(SECONDS)
    hanging = [pool.submit(hang) for _ in range(2)]
    time.sleep(0.2)
    pool.shutdown()
    assert all(future.done() for future in hanging)
    assert not alive([process])


@pytest.mark.parametrize(
    ("ready", "sentence"),
    [
        (refuse, "No sandbox here."),
        (drop_dead, f"{FALSE_STARTS} processes in a row ended before they could grade anything"),
        (partial(int, "x"), "No notebook can be graded on this machine: ValueError"),
    ],
)
def test_processes_that_do_not_start_end_the_run(ready: partial[None], sentence: str) -> None:
    def use() -> None:
        with LocalPool(2, ready, 60.0, "tests.grader.bulk.fake_grading") as pool:
            for _ in range(1000):
                pool.look_after()
                time.sleep(0.02)

    with pytest.raises(CannotGrade) as caught:
        use()
    assert str(caught.value).startswith(sentence)
