"""A task: one file handed in, read without following where it may lead, for a process to grade."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from grader.classroom.intake.class_folder import HandedIn
from grader.classroom.intake.walk import Parts
from grader.submission.notebook_file import (
    UnreadableNotebook,
    explained,
    read_whole,
    refuse_unfit,
    shown,
)

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
"""Should a pipe take the file's place after the look at it, nobody waits for its writer."""


@dataclass(frozen=True, slots=True)
class Task:
    """A file's bytes with what the folder says about it: no other machine need see the folder.

    A file that could not be read has no bytes and no hash, but a sentence: `refusal`.
    """

    file: HandedIn
    data: bytes = b""
    refusal: str = ""


def make_task(file: HandedIn, root: Path) -> Task:
    """Read a file handed in; whatever it is, there is a task."""
    try:
        data = read_handed_in(root, file.parts, Path(file.path))
    except UnreadableNotebook as error:
        return Task(file, refusal=str(error))
    return Task(replace(file, sha256=hashlib.sha256(data).hexdigest()), data)


def read_handed_in(root: Path, parts: Parts, name: Path) -> bytes:
    """The bytes of a file below `root`, which sentences call `name`.

    Below `root` no link is followed, neither out of it nor to somebody else's work in it. Each
    folder on the way is opened from the one before: a link that takes a folder's place meanwhile
    is refused as well.

    Raises:
        UnreadableNotebook: it is a link, no file, too large, not there.
    """
    if not parts or any(part == ".." or Path(part).name != part for part in parts):
        raise UnreadableNotebook(f"{shown(name)} is not in the folder that is graded.")
    with explained(name), _opened(os.open(root, os.O_RDONLY | os.O_DIRECTORY)) as top:
        return _read_below(top, parts, name)


def _read_below(folder: int, parts: Parts, name: Path) -> bytes:
    first, *rest = parts
    status = os.stat(first, dir_fd=folder, follow_symlinks=False)
    if stat.S_ISLNK(status.st_mode):
        raise UnreadableNotebook(
            f"{shown(name)} is a link, or in a folder that is one, and no link is followed in what "
            "students hand in: put the file itself there."
        )
    if rest:
        with _opened(os.open(first, _FOLDER, dir_fd=folder)) as inner:
            return _read_below(inner, tuple(rest), name)
    refuse_unfit(status, name)
    with open(os.open(first, _FILE, dir_fd=folder), "rb") as file:  # noqa: PTH123  Path.open takes no descriptor
        refuse_unfit(os.fstat(file.fileno()), name)
        return read_whole(file, name)


@contextmanager
def _opened(descriptor: int) -> Iterator[int]:
    try:
        yield descriptor
    finally:
        os.close(descriptor)
