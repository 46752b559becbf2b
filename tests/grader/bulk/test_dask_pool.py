"""A real scheduler with two real workers on this machine."""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from grader.bulk import dask_pool
from grader.bulk.dask_pool import DaskPool
from grader.bulk.failures import CannotGrade, Displaced
from grader.bulk.journal import Journal
from grader.bulk.line import Line
from grader.bulk.run import Run
from tests.grader.bulk.dask_cluster import Cluster
from tests.grader.bulk.fake_grading import SETTINGS, class_in, fake_grade, make_class

pytest.importorskip("distributed", reason="the extra [dask] is not installed")

FILES = 120


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

    with Journal(folder.parent / "results.jsonl") as journal:
        run = Run(class_in(folder), SETTINGS, journal, fake_grade)
        run.grade_all(lambda: DaskPool(address), show)
    return run


def read(folder: Path) -> list[Line]:
    return [*map(json.loads, (folder.parent / "results.jsonl").read_bytes().splitlines())]


def test_two_workers_share_a_class(cluster: Cluster, folder: Path) -> None:
    workers = [cluster.add_worker() for _ in range(2)]
    grade(folder, cluster.address)
    lines = read(folder)
    assert len({line["id"] for line in lines}) == len(lines) == FILES
    ends = {int(line["run"]["worker"].rpartition("-")[2]) for line in lines}
    assert ends <= {worker.pid for worker in workers}


def test_a_worker_that_is_killed_costs_no_line(cluster: Cluster, folder: Path) -> None:
    first, _ = (cluster.add_worker() for _ in range(2))
    grade(folder, cluster.address, at=30, do=lambda: first.send_signal(signal.SIGKILL))
    assert len({line["id"] for line in read(folder)}) == len(read(folder)) == FILES
    assert first.wait(0) == -signal.SIGKILL


def test_a_scheduler_that_is_killed_ends_the_run_which_goes_on_with_another(
    cluster: Cluster, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dask_pool, "LOST_SECONDS", 1.0)
    cluster.add_worker()
    with pytest.raises(CannotGrade, match="is gone"):
        grade(folder, cluster.address, at=30, do=cluster.scheduler.kill)
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


def test_a_cluster_without_workers_is_not_waited_for_long(
    cluster: Cluster, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dask_pool, "LONELY_SECONDS", 0.5)
    with pytest.raises(CannotGrade, match="has had no worker for"):
        grade(folder, cluster.address)


def test_nobody_answers(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dask_pool, "CONNECT_SECONDS", 0.3)
    with pytest.raises(CannotGrade, match="No Dask scheduler answers at tcp"):
        grade(folder, "tcp://127.0.0.1:1")


def test_dask_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(CannotGrade, match=r"pip install 'backprop-ninja\[dask\]'"):
        DaskPool("tcp://127.0.0.1:1")


def test_what_one_task_of_a_batch_raises_concerns_no_other(cluster: Cluster) -> None:
    cluster.add_worker()
    pool = DaskPool(cluster.address)
    try:
        futures = [pool.submit(int, text) for text in ("1", "x", "3", "4", "5")]
        errors = [future.exception(30.0) for future in futures]
        assert [error is None for error in errors] == [True, False, True, True, True]
        assert isinstance(errors[1], CannotGrade)
        assert [future.result() for future in futures if not future.exception()] == [1, 3, 4, 5]
    finally:
        pool.shutdown()


def test_what_the_client_refuses_is_displaced(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    from distributed.cfexecutor import ClientExecutor

    def refuse(*_: object) -> None:
        raise RuntimeError("Client is closed.")

    pool = DaskPool(cluster.address)
    try:
        monkeypatch.setattr(ClientExecutor, "submit", refuse)
        futures = [pool.submit(int, "1") for _ in range(40)]
        assert {type(future.exception(30.0)) for future in futures} == {Displaced}
    finally:
        pool.shutdown()
