from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from grader.whole_file import is_left_over, whole_file, write_whole

ON_POSIX = pytest.mark.skipif(os.name != "posix", reason="Windows knows no such permissions")


@pytest.mark.parametrize("old", [b"", b"old"])
def test_a_file_is_there_whole_or_not_at_all(old: bytes, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    if old:
        write_whole(path, old)

    def interrupt() -> None:
        with whole_file(path) as file:
            file.write(b"new")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupt()
    assert [each.read_bytes() for each in tmp_path.iterdir()] == ([old] if old else [])


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="Windows knows no such files")
def test_a_pipe_is_written_to_and_stays(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    write_whole(path, "new")
    assert os.read(reader, 10) == b"new"
    os.close(reader)
    assert path.is_fifo()


def test_a_full_disk_is_told_and_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.csv"
    write_whole(path, "old", durable=True)

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="No space left"):
        write_whole(path, "new", durable=True)
    assert [each.read_bytes() for each in tmp_path.iterdir()] == [b"old"]


def test_a_reader_meets_the_old_file_until_the_new_one_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    write_whole(path, "old")
    with whole_file(path) as file:
        file.write(b"ne")
        assert path.read_text() == "old"
        assert {is_left_over(each) for each in tmp_path.iterdir() if each != path} == {True}
        file.write(b"w")
    assert path.read_text() == "new"
    assert not is_left_over(path)


def test_half_a_surrogate_pair_is_spelled_out(tmp_path: Path) -> None:
    write_whole(tmp_path / "a.html", "half a pair: \ud83d\n")
    assert (tmp_path / "a.html").read_bytes() == b"half a pair: \\ud83d\n"


@ON_POSIX
def test_permissions_stay(tmp_path: Path) -> None:
    path, usual = tmp_path / "a", tmp_path / "c"
    for each in (path, usual):
        each.write_bytes(b"old")
    path.chmod(0o640)
    write_whole(path, "new")
    assert path.stat().st_mode & 0o777 == 0o640
    write_whole(tmp_path / "d", "new")
    assert (tmp_path / "d").stat().st_mode == usual.stat().st_mode
