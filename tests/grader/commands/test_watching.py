from __future__ import annotations

import shutil
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from grader.commands.watching import file_changes


@pytest.fixture
def watched(tmp_path: Path) -> Iterator[tuple[Path, Iterator[bool], threading.Event]]:
    path = tmp_path / "folder" / "mine.ipynb"
    path.parent.mkdir()
    path.write_text("one")
    stop = threading.Event()
    events = file_changes(path, stop)
    assert next(events) in (True, False), "the watching has begun"
    yield path, events, stop
    stop.set()


Watched = tuple[Path, Iterator[bool], threading.Event]


def until_saved(events: Iterator[bool]) -> None:
    for _ in range(60):  # half minutes of patience, in halves of a second
        if next(events):
            return
    raise AssertionError("the save was not seen")


def in_place(path: Path) -> None:
    path.write_text("two")


def as_editors_do(path: Path) -> None:
    new = path.with_name("new")
    new.write_text("two")
    new.replace(path)


def with_a_backup(path: Path) -> None:
    path.rename(path.with_name("mine.ipynb~"))
    path.write_text("two")


def removed(path: Path) -> None:
    path.unlink()


@pytest.mark.parametrize("save", [in_place, as_editors_do, with_a_backup, removed])
def test_a_save_is_seen(save: Callable[[Path], None], watched: Watched) -> None:
    path, events, _ = watched
    save(path)
    until_saved(events)


def test_a_file_that_comes_back_is_seen(watched: Watched) -> None:
    path, events, _ = watched
    for _ in range(3):
        path.unlink()
        until_saved(events)
        path.write_text("two")
        until_saved(events)


def test_other_files_are_not_its_business(watched: Watched) -> None:
    path, events, _ = watched
    path.with_name("other.ipynb").write_text("x")
    path.with_name("folder").mkdir()
    assert not any(next(events) for _ in range(3))


def test_a_folder_that_comes_back_is_watched_again(watched: Watched) -> None:
    path, events, _ = watched
    shutil.rmtree(path.parent)
    while next(events):
        pass
    path.parent.mkdir()
    path.write_text("two")
    for _ in range(4):  # the new folder is noticed
        next(events)
    path.write_text("three")
    until_saved(events)


def test_the_file_behind_a_link(tmp_path: Path) -> None:
    path = tmp_path / "elsewhere" / "real.ipynb"
    path.parent.mkdir()
    path.write_text("one")
    link = tmp_path / "link.ipynb"
    link.symlink_to(path)
    stop = threading.Event()
    events = file_changes(link, stop)
    next(events)
    path.write_text("two")
    until_saved(events)
    stop.set()


def test_it_ends_when_told(watched: Watched) -> None:
    _, events, stop = watched
    stop.set()
    assert len(list(events)) <= 2


def test_without_any_announcements_there_are_ticks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def watch(*_: object, **__: object) -> None:
        raise OSError(28, "OS file watch limit reached")

    monkeypatch.setattr("grader.commands.watching.watchfiles.watch", watch)
    events = file_changes(tmp_path / "mine.ipynb")
    assert [next(events) for _ in range(3)] == [False, False, False]
