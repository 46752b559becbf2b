"""Read the notebooks in a student's zip file in memory, without unpacking anything to the disk."""

from __future__ import annotations

import io
import zipfile
import zlib
from pathlib import Path

from grader.submission.notebook_file import LARGEST_FILE, UnreadableNotebook, shown

MOST_FILES = 2_000
"""The most files in a zip file. A clone of the course has 900, and an honest submission has ten."""
MOST_NOTEBOOKS = 50
DEEPEST = 12
"""The most folders around a file. A zip file inside a zip file is not opened."""

_ENTRY = b"PK\x01\x02"
"""The beginning of each entry in a zip file's list of contents."""
_DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, NotImplementedError)


def files_in_zip(data: bytes, name: Path) -> list[tuple[str, ...]]:
    """List the files in a zip file by their paths, each once.

    Raises:
        UnreadableNotebook: the zip file cannot be opened, or holds too much; the message is a
            sentence.
    """
    return sorted({*map(_parts, _members(data, name))})


def read_member(data: bytes, inside: tuple[str, ...], name: Path) -> bytes:
    """Read one file of a zip file; sentences call it `name`. Raises as `files_in_zip` does."""
    member = next((m for m in reversed(_members(data, name)) if _parts(m) == inside), None)
    if member is None:
        raise UnreadableNotebook(f"{shown(name)} is not in its zip file any more.")
    if member.flag_bits & 1:
        raise UnreadableNotebook(
            f"{shown(name)} is in a zip file that needs a password: hand in the notebook itself."
        )
    try:
        # The sizes in the list may be false, so the bytes are counted as they are read.
        with zipfile.ZipFile(io.BytesIO(data)) as archive, archive.open(member) as file:
            text = file.read(LARGEST_FILE + 1)
    except _DAMAGED:
        raise UnreadableNotebook(_damaged(name)) from None
    if len(text) > LARGEST_FILE:
        raise UnreadableNotebook(
            f"{shown(name)} has more than {LARGEST_FILE // 2**20} MB: clear the outputs of its "
            "cells and save it again."
        )
    return text


def _members(data: bytes, name: Path) -> list[zipfile.ZipInfo]:
    if data.count(_ENTRY) > MOST_FILES:
        raise UnreadableNotebook(
            f"{shown(name)} is a zip file with more than {MOST_FILES:,} files: hand in the "
            "notebook itself."
        )
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = archive.infolist()
    except _DAMAGED:
        raise UnreadableNotebook(_damaged(name)) from None
    return [member for member in members if _is_plain(member.filename)]


def _is_plain(path: str) -> bool:
    """True if a path stays inside its archive and may be a file's; those of folders end in "/"."""
    names = path.split("/")
    return len(names) <= DEEPEST and not any(
        part in ("", ".", "..") or len(part) > 255 or "\\" in part or ":" in part for part in names
    )


def _parts(member: zipfile.ZipInfo) -> tuple[str, ...]:
    return tuple(member.filename.split("/"))


def _damaged(name: Path) -> str:
    return f"{shown(name)} is a damaged zip file: pack it again, or hand in the notebook itself."
