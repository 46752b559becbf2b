"""A real scheduler with two real workers on this machine."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import signal
import time
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from pathlib import Path
from typing import Any

import pytest

from grader.classroom.run import dask_pool
from grader.classroom.run.class_run import Run
from grader.classroom.run.dask_pool import DaskPool
from grader.classroom.run.pool import CannotGrade, Displaced
from grader.classroom.run.results import EXPORT, Results
from tests.helpers.dask_cluster import Cluster
from tests.helpers.fake_grading import class_in, fake_grade, make_class
from tests.helpers.lines import SETTINGS, Document

pytest.importorskip("distributed", reason="the extra [dask] is not installed")

FILES = 120


class Fragile(Exception):
    """As many are: it cannot be unpickled."""

    def __init__(self, one: str, two: str) -> None:
        super().__init__(one + two)


ERRORS = {
    "own": CannotGrade("no bwrap"),
    "fragile": Fragile("a", "b"),
    # Of the task's own, though a lost connection shows itself in their like.
    "disk": OSError("no space left"),
    "cancelled": CancelledError("a part of it"),
}


def fail(kind: str) -> int:
    raise ERRORS[kind]


class LostOnceRead:
    """The number 1, of which the client hears that it is lost while it is reading it."""

    def __reduce__(self) -> tuple[Callable[[], int], tuple[()]]:
        return _read_and_lose, ()


class KillsOnceSent:
    """A result: the scheduler dies while the worker packs it, so the client has asked for it."""

    def __init__(self, scheduler: int) -> None:
        self.scheduler = scheduler

    def __reduce__(self) -> tuple[Callable[[], int], tuple[()]]:
        os.kill(self.scheduler, signal.SIGKILL)
        return int, ()


CLIENTS: list[Any] = []


def _read_and_lose() -> int:
    for state in CLIENTS[-1].futures.values():
        state.lose()
    return 1


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    (tmp_path / "dask").mkdir()
    cluster = Cluster(tmp_path / "dask")
    try:
        yield cluster
    finally:
        cluster.close()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    make_class(tmp_path / "class", {f"{number:03}": "slow" for number in range(FILES)})
    return tmp_path / "class"


def grade(folder: Path, address: str, at: int = -1, do: Callable[[], object] = object) -> Run:
    """Grade, and do something when so many files are done."""
    done = False

    def show(tally: object) -> None:
        nonlocal done
        if not done and run.tally.done >= at >= 0:
            done = True
            do()

    with Results(folder.parent / "results.sqlite", change=True) as results:
        run = Run(class_in(folder), SETTINGS, results, fake_grade)
        run.grade_all(lambda: DaskPool(address), show)
    return run


def read(folder: Path) -> list[Document]:
    with Results(folder.parent / "results.sqlite") as results:
        results.export()
    return [*map(json.loads, (folder.parent / EXPORT).read_bytes().splitlines())]


@pytest.mark.slow
def test_two_workers_share_a_class(cluster: Cluster, folder: Path) -> None:
    workers = [cluster.add_worker() for _ in range(2)]
    grade(folder, cluster.address)
    lines = read(folder)
    assert len({line["id"] for line in lines}) == len(lines) == FILES
    ends = {int(line["run"]["worker"].rpartition("-")[2]) for line in lines}
    assert ends <= {worker.pid for worker in workers}


@pytest.mark.slow
def test_a_worker_that_is_killed_costs_no_line(cluster: Cluster, folder: Path) -> None:
    first, _ = (cluster.add_worker() for _ in range(2))
    grade(folder, cluster.address, at=30, do=lambda: first.send_signal(signal.SIGKILL))
    assert len({line["id"] for line in read(folder)}) == len(read(folder)) == FILES
    assert first.wait(0) == -signal.SIGKILL


@pytest.mark.slow
def test_a_scheduler_that_is_killed_ends_the_run_which_goes_on_with_another(
    cluster: Cluster, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def kill() -> None:
        monkeypatch.setattr(dask_pool, "LOST_SECONDS", 1.0)
        cluster.scheduler.kill()

    cluster.add_worker()
    with pytest.raises(CannotGrade, match="is gone"):
        grade(folder, cluster.address, at=30, do=kill)
    kept = len(read(folder))
    assert 30 <= kept < FILES
    (tmp_path / "again").mkdir()
    other = Cluster(tmp_path / "again")
    try:
        other.add_worker()
        run = grade(folder, other.address)
    finally:
        other.close()
    assert run.tally.kept == kept
    assert len({line["id"] for line in read(folder)}) == len(read(folder)) == FILES


@pytest.mark.slow
def test_a_scheduler_that_hangs_ends_the_run(
    cluster: Cluster, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop() -> None:
        monkeypatch.setattr(dask_pool, "LOST_SECONDS", 1.0)
        cluster.scheduler.send_signal(signal.SIGSTOP)

    monkeypatch.setattr(dask_pool, "COUNT_SECONDS", 0.0)
    cluster.add_worker()
    with pytest.raises(CannotGrade, match="is gone"):
        grade(folder, cluster.address, at=30, do=stop)
    assert 30 <= len(read(folder)) < FILES


@pytest.mark.slow
def test_a_scheduler_that_is_killed_on_the_way_of_a_result_displaces_its_task(
    cluster: Cluster,
) -> None:
    cluster.add_worker()
    pool = DaskPool(cluster.address)
    try:
        future = pool.submit(KillsOnceSent, cluster.scheduler.pid)
        assert type(future.exception(60.0)) is Displaced
    finally:
        pool.shutdown()


@pytest.mark.slow
def test_however_the_connection_fails_the_task_is_displaced(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    from distributed import Client
    from distributed.comm.core import CommClosedError

    async def fail_with(client: Client, error: BaseException, is_lost: bool) -> None:
        while is_lost and client.status == "running":
            await asyncio.sleep(0.01)
        raise error

    def displaced_by(error: BaseException, is_lost: bool) -> bool:
        def gather(client: Client, *_: object, **__: object) -> object:
            return fail_with(client, error, is_lost)

        monkeypatch.setattr(Client, "gather", gather)
        return type(pool.submit(int).exception(60.0)) is Displaced

    pool = DaskPool(cluster.address)
    try:
        # Dask's stream may be whole yet when its other connections fail.
        assert displaced_by(CommClosedError("in <TCP (closed) ConnectionPool.gather>"), False)
        assert displaced_by(OSError("Timed out trying to connect"), False)
        assert displaced_by(TimeoutError(), False)
        assert displaced_by(CancelledError(), False)
        assert displaced_by(asyncio.CancelledError(), False)
        assert not displaced_by(RuntimeError("a result that cannot be read"), False)
        cluster.scheduler.kill()
        assert displaced_by(RuntimeError("ConnectionPool is closed"), True)
        assert displaced_by(AttributeError("'NoneType' object has no attribute 'gather'"), True)
    finally:
        pool.shutdown()


@pytest.mark.slow
def test_a_cluster_without_workers_is_not_waited_for_long(
    cluster: Cluster, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dask_pool, "LONELY_SECONDS", 0.5)
    with pytest.raises(CannotGrade, match="has had no worker for"):
        grade(folder, cluster.address)


@pytest.mark.slow
@pytest.mark.parametrize(
    "address",
    [
        *("", "word", "tcp://", "tcp://127.0.0.1", "http://127.0.0.1:1", "127.0.0.1:x"),
        *("tcp://127.0.0.1:1", "tcp://127.0.0.1:99999", "tcp://no.such.host.example:8786"),
        *("tls://127.0.0.1:1", "ucx://127.0.0.1:1", "inproc://1/2"),
    ],
)
def test_nobody_answers(
    address: str, monkeypatch: pytest.MonkeyPatch, recwarn: pytest.WarningsRecorder
) -> None:
    monkeypatch.setattr(dask_pool, "CONNECT_SECONDS", 0.3)
    began = time.monotonic()
    with pytest.raises(CannotGrade, match=f"No Dask scheduler answers at {address!r}"):
        DaskPool(address)
    gc.collect()  # what Dask leaves behind must neither be waited for nor heard of
    assert time.monotonic() - began < 10
    assert not recwarn.list


@pytest.mark.slow
def test_a_worker_is_no_scheduler(cluster: Cluster) -> None:
    cluster.add_worker()
    pool = DaskPool(cluster.address)
    try:
        pool._client.wait_for_workers(1, timeout=60)
        (worker,) = pool._client.scheduler_info()["workers"]
    finally:
        pool.shutdown()
    with pytest.raises(CannotGrade, match="No Dask scheduler answers at 'tcp"):
        DaskPool(worker)


@pytest.mark.slow
def test_what_one_task_raises_concerns_no_other(cluster: Cluster) -> None:
    cluster.add_worker()
    pool = DaskPool(cluster.address)
    try:
        futures = [pool.submit(int, text) for text in ("0", "1", "x", "3")]
        futures += [pool.submit(fail, kind) for kind in ERRORS]
        errors = [str(future.exception(30.0)) for future in futures]
        assert [future.result() for future in futures if not future.exception()] == [0, 1, 3]
    finally:
        pool.shutdown()
    assert "A Dask worker cannot grade (ValueError: invalid literal" in errors[2]
    assert errors[4] == "no bwrap"
    assert "Fragile" in errors[5]
    assert "A Dask worker cannot grade (OSError: no space left)" in errors[6]
    assert "A Dask worker cannot grade (CancelledError: a part of it)" in errors[7]


@pytest.mark.slow
def test_a_result_that_is_lost_once_it_is_read_counts(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    import distributed

    def client(*args: Any, **kwargs: Any) -> Any:
        CLIENTS.append(distributed.client.Client(*args, **kwargs))
        return CLIENTS[-1]

    monkeypatch.setattr(distributed, "Client", client)
    cluster.add_worker()
    pool = DaskPool(cluster.address)
    try:
        assert str(pool.submit(LostOnceRead).result(60.0)) == "1"
    finally:
        pool.shutdown()


@pytest.mark.slow
def test_what_ends_a_worker_is_blamed_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES", "0")
    make_class(tmp_path / "class", {"a": "1", "b": "1", "c": "die", "d": "1", "e": "1"})
    (tmp_path / "dask").mkdir()
    cluster = Cluster(tmp_path / "dask")
    try:
        workers = [cluster.add_worker()]
        more = iter([2, 3])

        def show(_: object) -> None:
            if workers[-1].poll() is not None and next(more, None):
                workers.append(cluster.add_worker())

        with Results(tmp_path / "results.sqlite", change=True) as results:
            run = Run(class_in(tmp_path / "class"), SETTINGS, results, fake_grade)
            run.grade_all(lambda: DaskPool(cluster.address), show)
    finally:
        cluster.close()
    errors = {line["id"]: line.get("error") for line in read(tmp_path / "class")}
    assert [name for name, error in errors.items() if error] == ["c"]
    assert len(errors) == 5
    assert [worker.returncode for worker in workers[:2]] == [-signal.SIGKILL] * 2


@pytest.mark.slow
def test_a_client_that_is_closed_displaces_what_it_is_given(cluster: Cluster) -> None:
    pool = DaskPool(cluster.address)
    pool.shutdown()
    assert {type(pool.submit(int).exception(30.0)) for _ in range(5)} == {Displaced}


@pytest.mark.slow
def test_a_refusal_without_an_obvious_reason_ends_the_run(
    cluster: Cluster, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from distributed import Client

    def refuse(*_: object, **__: object) -> None:
        raise MemoryError("too much")

    cluster.add_worker()
    monkeypatch.setattr(Client, "submit", refuse)
    with pytest.raises(CannotGrade, match=r"cannot be given a task \(MemoryError: too much\)"):
        grade(folder, cluster.address)


@pytest.mark.slow
def test_a_task_that_was_cancelled_holds_up_no_other(cluster: Cluster) -> None:
    pool = DaskPool(cluster.address)
    try:
        futures = [pool.submit(int) for _ in range(9)]
        assert all(future.cancel() for future in futures[::2])
        cluster.add_worker()
        assert [future.result(30.0) for future in futures[1::2]] == [0] * 4
    finally:
        pool.shutdown()
