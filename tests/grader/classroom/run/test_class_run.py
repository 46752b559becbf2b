from __future__ import annotations

import json
import os
import time
from concurrent.futures import CancelledError
from pathlib import Path
from typing import Any

import pytest

from grader.classroom.intake.class_folder import HandedIn
from grader.classroom.run import class_run, read_file
from grader.classroom.run.class_run import Run, Stop
from grader.classroom.run.pool import CannotGrade, Died, Displaced
from grader.classroom.run.results import EXPORT, Results
from tests.helpers.fake_grading import (
    InlinePool,
    class_in,
    fake_grade,
    make_class,
    make_pool,
)
from tests.helpers.lines import SETTINGS, Document

WORDS = {"b": "2", "a": "1", "c": "0"}


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(class_run, "GLANCE_SECONDS", 0.001)


def grade(folder: Path, pool: Any, results: Path) -> Run:
    with Results(results, change=True) as opened:
        run = Run(class_in(folder), SETTINGS, opened, fake_grade)
        run.grade_all(lambda: pool, lambda tally: None)
    return run


def read(results: Path) -> dict[str, Document]:
    with Results(results) as opened:
        opened.export()
    lines = map(json.loads, results.with_name(EXPORT).read_bytes().splitlines())
    return {line["id"]: line for line in lines}


def refuse_pool() -> Any:
    pytest.fail("a pool is not needed")


def test_every_file_gets_its_line(tmp_path: Path) -> None:
    make_class(tmp_path / "class", WORDS)
    pool = InlinePool()
    run = grade(tmp_path / "class", pool, tmp_path / "results.sqlite")
    lines = read(tmp_path / "results.sqlite")
    assert {key: line["score"] for key, line in lines.items()} == {"a": 1, "b": 2, "c": 0}
    assert lines["a"]["submitted"] == "2026-11-20T00:00:00+00:00"
    assert (run.tally.done, run.tally.graded) == (3, 3)
    assert pool.closed


def test_no_more_is_read_than_the_pool_can_take(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_class(tmp_path / "class", {f"{number:03}": "1" for number in range(50)})
    pool, read_ahead = InlinePool(), []

    def counting(*arguments: Any) -> HandedIn:
        read_ahead.append(len(pool.seen))
        return read_file.read_file(*arguments)

    monkeypatch.setattr(class_run, "read_file", counting)
    grade(tmp_path / "class", pool, tmp_path / "results.sqlite")
    assert pool.most == pool.capacity
    # The n-th file is read only when those before it are handed out.
    assert all(number - seen <= 1 for number, seen in enumerate(read_ahead))
    assert len(read_ahead) == 50


def test_a_file_that_looks_as_it_did_is_not_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    results = tmp_path / "results.sqlite"
    make_class(tmp_path / "class", WORDS)
    long_ago = time.time() - 3600
    monkeypatch.setattr(
        read_file, "SETTLED_SECONDS", -1
    )  # this test does not wait for its files to age
    grade(tmp_path / "class", InlinePool(), results)
    read: list[str] = []

    def reading(file: HandedIn, root: Path) -> HandedIn:
        read.append(file.id)
        return read_file.read_file(file, root)

    monkeypatch.setattr(class_run, "read_file", reading)
    assert grade(tmp_path / "class", InlinePool(), results).tally.kept == 3
    assert read == []
    os.utime(tmp_path / "class" / "b", (long_ago, long_ago))
    assert grade(tmp_path / "class", InlinePool(), results).tally.kept == 3
    assert read == ["b"]
    assert grade(tmp_path / "class", InlinePool(), results).tally.kept == 3
    assert read == ["b"]


def test_a_file_changed_just_now_is_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    results = tmp_path / "results.sqlite"
    make_class(tmp_path / "class", WORDS)
    grade(tmp_path / "class", InlinePool(), results)
    monkeypatch.setattr(class_run, "read_file", lambda *_: pytest.fail("it is read"))
    with pytest.raises(pytest.fail.Exception, match="it is read"):
        grade(tmp_path / "class", InlinePool(), results)


def test_what_has_a_line_is_not_graded_again(tmp_path: Path) -> None:
    results = tmp_path / "results.sqlite"
    make_class(tmp_path / "class", WORDS)
    (tmp_path / "class" / "link").symlink_to("a")
    grade(tmp_path / "class", InlinePool(), results)
    before = read(results)
    with Results(results, change=True) as opened:
        run = Run(class_in(tmp_path / "class"), SETTINGS, opened, fake_grade)
        run.grade_all(refuse_pool, lambda tally: None)
    assert read(results) == before
    assert (run.tally.kept, run.tally.fresh, run.tally.unreadable) == (4, 0, 1)


def test_what_has_changed_or_come_is_graded(tmp_path: Path) -> None:
    results, folder = tmp_path / "results.sqlite", tmp_path / "class"
    make_class(folder, WORDS)
    grade(folder, InlinePool(), results)
    make_class(folder, {"a": "2", "new": "1"})
    (folder / "b").unlink()
    (folder / "b").symlink_to("c")
    pool = InlinePool()
    grade(folder, pool, results)
    lines = read(results)
    assert sorted(pool.seen) == ["a", "new"]
    assert lines["a"]["score"] == 2
    assert "is a link" in lines["b"]["error"]


def test_what_cannot_be_read_has_a_line_too(tmp_path: Path) -> None:
    folder = tmp_path / "class"
    folder.mkdir()
    (folder / "link").symlink_to("/etc/passwd")
    os.mkfifo(folder / "pipe")
    with Results(tmp_path / "results.sqlite", change=True) as opened:
        run = Run(class_in(folder), SETTINGS, opened, fake_grade)
        run.grade_all(refuse_pool, lambda tally: None)
    lines = read(tmp_path / "results.sqlite")
    assert [lines[key]["flags"][0]["kind"] for key in ("link", "pipe")] == ["unreadable"] * 2
    assert lines["link"]["sha256"] is None
    assert run.tally.unreadable == 2


@pytest.mark.parametrize(
    ("errors", "tries", "kind"),
    [
        ([Displaced()] * 5, 6, None),
        ([Died()], 2, None),
        ([Died(), Displaced(), Died()], 4, None),
        ([Died()] * 3, 3, "killed"),
        ([Died(2)], 2, None),
        ([Died(2), Died(2)], 2, "killed"),
        ([Died(), Died(), Displaced(), Died()], 4, "killed"),
    ],
)
def test_what_kills_is_tried_again_then_alone_then_no_more(
    errors: list[BaseException], tries: int, kind: str | None, tmp_path: Path
) -> None:
    make_class(tmp_path / "class", {"a": "2", "b": "2", "c": "2", "d": "2"})
    pool = InlinePool({"b": list(errors)})
    grade(tmp_path / "class", pool, tmp_path / "results.sqlite")
    lines = read(tmp_path / "results.sqlite")
    assert sorted(lines) == ["a", "b", "c", "d"]
    assert pool.seen.count("b") == tries
    flags = [flag["kind"] for flag in lines["b"]["flags"]]
    assert flags == ([kind] if kind else [])
    if sum(isinstance(error, Died) and error.times for error in errors) > 1:
        assert pool.seen[-1] == "b"  # alone, after all others


@pytest.mark.parametrize("error", [CannotGrade("No torch."), CancelledError(), RuntimeError("?")])
def test_a_pool_that_cannot_go_on_ends_the_run(error: BaseException, tmp_path: Path) -> None:
    make_class(tmp_path / "class", WORDS)
    pool = InlinePool({"a": [error]})
    with pytest.raises(CannotGrade):
        grade(tmp_path / "class", pool, tmp_path / "results.sqlite")
    assert pool.closed


def test_a_run_can_be_stopped_between_two_lines(tmp_path: Path) -> None:
    make_class(tmp_path / "class", {f"{number:03}": "1" for number in range(30)})
    pool = InlinePool()
    with Results(tmp_path / "results.sqlite", change=True) as opened:
        run = Run(class_in(tmp_path / "class"), SETTINGS, opened, fake_grade)
        with pytest.raises(Stop):
            run.grade_all(lambda: pool, lambda tally: run.stop() if tally.done == 7 else None)
    assert len(read(tmp_path / "results.sqlite")) == 7
    assert pool.closed


@pytest.mark.slow
def test_a_file_that_hangs_costs_the_others_nothing_but_time(tmp_path: Path) -> None:
    words = {"a": "hang", **{f"b{number}": "2" for number in range(9)}}
    make_class(tmp_path / "class", words)
    pool = make_pool(patience=2.0)
    grade(tmp_path / "class", pool, tmp_path / "results.sqlite")
    lines = read(tmp_path / "results.sqlite")
    assert sorted(lines) == sorted(words)
    assert [flag["kind"] for flag in lines["a"]["flags"]] == ["killed"]
    assert all(line["score"] == 2 for name, line in lines.items() if name != "a")
