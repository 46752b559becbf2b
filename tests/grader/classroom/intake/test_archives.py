from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pytest

from grader.classroom.intake.archives import MOST_FILES, files_in_zip, read_member
from grader.submission.notebook_file import LARGEST_FILE, UnreadableNotebook

NAME = Path("ada/hw.zip")


def packed(*names: str, data: bytes = b"{}") -> bytes:
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in names:
            archive.writestr(name, data)
    return written.getvalue()


def test_files_are_listed_and_read() -> None:
    data = packed("b/", "b/x.ipynb", "a.ipynb", data=b"text")
    assert files_in_zip(data, NAME) == [("a.ipynb",), ("b", "x.ipynb")]
    assert read_member(data, ("b", "x.ipynb"), NAME) == b"text"


@pytest.mark.parametrize(
    "name", ["/etc/x.ipynb", "../x.ipynb", "a/../../x.ipynb", "C:/x.ipynb", "a/" * 20 + "x.ipynb"]
)
def test_names_that_lead_elsewhere_are_not_there(name: str) -> None:
    assert files_in_zip(packed(name), NAME) == []


def test_what_holds_too_much_is_refused() -> None:
    with pytest.raises(UnreadableNotebook, match="more than 2,000 files"):
        files_in_zip(packed(*map(str, range(MOST_FILES + 1)), data=b""), NAME)
    bomb = packed("x.ipynb", data=bytes(LARGEST_FILE + 1))
    assert len(bomb) < 100_000
    with pytest.raises(UnreadableNotebook, match="more than 32 MB"):
        read_member(bomb, ("x.ipynb",), NAME)


def test_what_is_damaged_or_locked_is_refused() -> None:
    data = packed("x.ipynb", data=b"text" * 100)
    for broken in (b"", b"PK\x03\x04", data[:-30]):
        with pytest.raises(UnreadableNotebook, match="damaged zip file"):
            files_in_zip(broken, NAME)
    with pytest.raises(UnreadableNotebook, match="damaged zip file"):
        read_member(data[:50] + b"#" + data[51:], ("x.ipynb",), NAME)
    locked = bytearray(data)
    for sign, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        locked[locked.index(sign) + at] |= 1
    with pytest.raises(UnreadableNotebook, match="needs a password"):
        read_member(bytes(locked), ("x.ipynb",), NAME)
