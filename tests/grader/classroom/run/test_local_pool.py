from __future__ import annotations

import gc
import os
import re
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from functools import partial
from multiprocessing.connection import Connection
from typing import Any

import pytest

from grader.classroom.run.local_pool import FALSE_STARTS, JUDGE_BYTES, LocalPool
from grader.classroom.run.pool import CannotGrade, Died, Displaced
from tests.helpers.fake_grading import drop_dead, make_pool, refuse
from tests.helpers.processes import alive

SECONDS = 300.0


def kill_myself() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def die_amid_the_answer() -> None:
    pipes = [one for one in gc.get_objects() if isinstance(one, Connection) and one.writable]
    os.write(pipes[-1].fileno(), struct.pack("!i", 9) + b"half")
    kill_myself()


def hopeless() -> object:
    """Hold on to the interpreter, so that no other thread of the process gets to run."""
    return re.match("(a+)+$", "a" * 60 + "b")


def big(data: bytes) -> int:
    return len(data)


@pytest.fixture
def pool() -> Iterator[LocalPool]:
    with make_pool() as pool:
        yield pool


def outcome(future: Future[Any]) -> object:
    error = future.exception(SECONDS)
    return future.result() if error is None else type(error)


def test_tasks_are_done_in_other_processes(pool: LocalPool) -> None:
    found = {pool.submit(os.getpid).result(SECONDS) for _ in range(4)}
    assert os.getpid() not in found


def take_memory(size: int) -> int:
    # Address space is what the limit counts: memory that nobody writes to takes no time.
    return len(bytes(size))


@pytest.mark.skipif(sys.platform != "linux", reason="no such limit elsewhere")
def test_a_task_has_so_much_memory_and_no_more(pool: LocalPool) -> None:
    for _ in range(2):  # beyond what the process has already, each time
        assert outcome(pool.submit(take_memory, JUDGE_BYTES + 2**28)) is MemoryError
        assert outcome(pool.submit(take_memory, JUDGE_BYTES // 2)) == JUDGE_BYTES // 2


def test_a_task_that_kills_its_process_is_blamed_and_no_other(pool: LocalPool) -> None:
    futures: list[Future[Any]] = [pool.submit(time.sleep, 0.3), pool.submit(kill_myself)]
    assert [outcome(future) for future in futures] == [None, Died]


def test_a_process_that_dies_amid_its_answer_has_died(pool: LocalPool) -> None:
    assert outcome(pool.submit(die_amid_the_answer)) is Died


@pytest.mark.slow
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


def test_a_process_that_dies_before_a_large_notebook_holds_nobody_up(pool: LocalPool) -> None:
    (victim,) = {pool.submit(os.getpid).result(SECONDS) for _ in range(2)}
    os.kill(victim, signal.SIGKILL)
    sent = [pool.submit(big, bytes(30 * 2**20)) for _ in range(2)]
    assert {outcome(future) for future in sent} <= {Displaced, Died, 30 * 2**20}


@pytest.mark.slow
@pytest.mark.parametrize("hang", [partial(time.sleep, 1000), hopeless])
def test_a_task_that_hangs_is_given_up(hang: Callable[[], object]) -> None:
    with make_pool(width=1, patience=0.5) as pool:
        pool.submit(os.getpid).result(SECONDS)  # a busy machine takes longer to start a process
        hanging = pool.submit(hang)
        error = hanging.exception(SECONDS)
    assert isinstance(error, Died)
    assert error.times == 2


@pytest.mark.slow
def test_a_task_that_hangs_ends_even_when_nobody_ends_it() -> None:
    with make_pool(width=1, patience=0.2) as pool:
        pool.submit(os.getpid).result(SECONDS)
        assert outcome(pool.submit(hopeless)) is Died


def test_a_process_starts_when_there_is_work_for_it() -> None:
    with make_pool(width=8) as pool:
        used = {pool.submit(os.getpid).result(SECONDS) for _ in range(6)}
        assert len(used) == 1
        some = [pool.submit(time.sleep, 0.2) for _ in range(3)]
        assert [outcome(future) for future in some] == [None] * 3


@pytest.mark.parametrize("hang", [partial(time.sleep, 1000), hopeless])
def test_nothing_is_waited_for_at_the_end(hang: Callable[[], object]) -> None:
    pool = make_pool(width=1)
    process = pool.submit(os.getpid).result(SECONDS)
    hanging = pool.submit(hang)
    time.sleep(0.2)
    pool.shutdown()
    assert hanging.done()
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
        with LocalPool(2, ready, 60.0, "tests.helpers.fake_grading") as pool:
            pool.submit(os.getpid).result(SECONDS)

    with pytest.raises(CannotGrade) as caught:
        use()
    assert str(caught.value).startswith(sentence)


NEW_INTERPRETER = """
import signal
from grader.classroom.run.local_pool import LocalPool
with LocalPool(1, int, 60.0, "json") as pool:
    held_back = pool.submit(signal.pthread_sigmask, signal.SIG_BLOCK, ()).result(60)
print(signal.SIGINT in held_back, signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, ()))
"""


def test_no_process_hears_of_ctrl_c_not_even_while_the_first_one_starts() -> None:
    """A terminal tells all processes of a command, and one that imports shows a traceback."""
    run = [sys.executable, "-c", NEW_INTERPRETER]
    said = subprocess.run(run, check=True, capture_output=True, text=True)
    assert said.stdout.split() == ["True", "False"]
