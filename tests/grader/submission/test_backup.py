from __future__ import annotations

import errno
import os
from datetime import datetime
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pytest

from grader.submission.backup import (
    WouldLoseWork,
    back_up,
    original_of,
    refuse_unsafe,
    replace_file,
)

NOW = datetime(2026, 11, 21, 14, 3, 22)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "01 mine.ipynb"
    path.write_bytes(b"before")
    return path


def fail(number: int) -> Any:
    def function(*_: Any, **__: Any) -> None:
        raise OSError(number, os.strerror(number))

    return function


class TestBackup:
    def test_the_time_stands_in_its_name(self, file: Path) -> None:
        file.chmod(0o600)
        backup = back_up(file, b"before", NOW)
        assert backup == file.with_name("01 mine.2026-11-21T14-03-22.ipynb")
        assert backup.read_bytes() == b"before"
        assert backup.stat().st_mode == file.stat().st_mode

    def test_none_is_ever_overwritten(self, file: Path) -> None:
        backups = [back_up(file, bytes([number]), NOW) for number in range(4)]
        assert [backup.read_bytes() for backup in backups] == [b"\0", b"\1", b"\2", b"\3"]
        assert [backup.name[-9:] for backup in backups[1:]] == [f"2-{n}.ipynb" for n in (2, 3, 4)]

    def test_by_its_name_it_is_known(self, file: Path, project: Path) -> None:
        for _ in range(2):
            name = back_up(file, b"before", NOW).name
            assert original_of(name) == file.name
            for ignored in (".gitignore", "grader/authoring/student/gitignore"):
                patterns = (project / ignored).read_text().splitlines()
                assert any(fnmatch(name, pattern) for pattern in patterns)
        assert original_of(file.name) is None

    @pytest.mark.parametrize(
        ("where", "number"),
        [
            ("os.fsync", errno.ENOSPC),
            ("pathlib.Path.open", errno.EACCES),
            ("shutil.copymode", errno.EPERM),
        ],
    )
    def test_where_none_can_be_written_nothing_is_left(
        self, file: Path, where: str, number: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(where, fail(number))
        with pytest.raises(WouldLoseWork, match="was not changed, since no backup can be written"):
            back_up(file, b"before", NOW)
        assert list(file.parent.iterdir()) == [file]

    def test_half_a_backup_does_not_outlive_ctrl_c(
        self, file: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def interrupt(_: int) -> None:
            raise KeyboardInterrupt

        monkeypatch.setattr("os.fsync", interrupt)
        with pytest.raises(KeyboardInterrupt):
            back_up(file, b"before", NOW)
        assert list(file.parent.iterdir()) == [file]


class TestReplacement:
    def test_content_changes_and_rights_do_not(self, file: Path) -> None:
        file.chmod(0o640)
        replace_file(file, b"before", b"after")
        assert file.read_bytes() == b"after"
        assert file.stat().st_mode & 0o777 == 0o640
        assert list(file.parent.iterdir()) == [file]

    def test_what_was_saved_meanwhile_stays(self, file: Path) -> None:
        file.write_bytes(b"newer")
        with pytest.raises(WouldLoseWork, match="was saved by another program"):
            replace_file(file, b"before", b"after")
        assert file.read_bytes() == b"newer"
        assert list(file.parent.iterdir()) == [file]

    @pytest.mark.parametrize("where", ["os.fsync", "pathlib.Path.replace", "shutil.copymode"])
    def test_a_full_disk_changes_nothing(
        self, file: Path, where: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(where, fail(errno.ENOSPC))
        with pytest.raises(WouldLoseWork, match=r"cannot be written \(no space left on device\)"):
            replace_file(file, b"before", b"after")
        assert file.read_bytes() == b"before"
        assert list(file.parent.iterdir()) == [file]

    def test_a_file_that_is_gone_does_not_come_back(self, file: Path) -> None:
        file.unlink()
        with pytest.raises(WouldLoseWork):
            replace_file(file, b"before", b"after")
        assert list(file.parent.iterdir()) == []


class TestRefusal:
    def test_a_plain_file_is_fine(self, file: Path) -> None:
        refuse_unsafe(file)

    def test_a_file_that_is_not_there_is_told_elsewhere(self, file: Path) -> None:
        refuse_unsafe(file.with_name("gone.ipynb"))

    def test_a_link_is_refused(self, file: Path) -> None:
        link = file.with_name("link.ipynb")
        link.symlink_to(file)
        with pytest.raises(WouldLoseWork, match=r"is a link to another file.*01 mine\.ipynb"):
            refuse_unsafe(link)

    def test_a_protected_file_is_refused(self, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("os.access", lambda path, mode: mode != os.W_OK)  # root may anything
        with pytest.raises(WouldLoseWork, match="is write-protected, so nothing was changed"):
            refuse_unsafe(file)
