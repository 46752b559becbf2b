"""Read a submitted file without following links."""

from __future__ import annotations

import hashlib
import os
import stat
import time
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from grader.classroom.intake.archives import read_member
from grader.classroom.intake.class_folder import HandedIn
from grader.classroom.intake.walk import Parts
from grader.submission.notebook_file import (
    UnreadableNotebook,
    explained,
    read_whole,
    refuse_unfit,
    shown,
)

# Windows has none of these, and there `grader grade` has to come as far as to refuse.
_DIRECTORY, _NOFOLLOW, _NONBLOCK = (
    getattr(os, name, 0) for name in ("O_DIRECTORY", "O_NOFOLLOW", "O_NONBLOCK")
)
_FOLDER = os.O_RDONLY | _DIRECTORY | _NOFOLLOW
_FILE = os.O_RDONLY | _NOFOLLOW | _NONBLOCK
"""If a pipe takes the file's place after it was checked, opening does not wait for a writer."""

SETTLED_SECONDS = 2.0
"""In seconds. If a file was changed more recently than this, another change could go unnoticed,
because some file systems keep times in steps of two seconds."""


def read_file(file: HandedIn, root: Path) -> HandedIn:
    """Add the data and their hash to a file, or the reason why it has none."""
    if file.reason:
        return file
    stamp = stamp_of(file, root)
    try:
        data = read_handed_in(root, file.parts, Path(file.path))
    except UnreadableNotebook as error:
        return replace(file, reason=str(error))
    return replace(file, sha256=hashlib.sha256(data).hexdigest(), data=data, stamp=stamp)


def stamp_of(file: HandedIn, root: Path) -> str | None:
    """The stamp of a submitted file; None if it is not a file, or was changed just now."""
    if not file.parts:
        return None
    try:
        status = os.lstat(os.path.join(root, *file.parts))  # noqa: PTH118  a third of Path's time
    except (OSError, ValueError):
        return None
    last = max(status.st_mtime, status.st_ctime)
    if not stat.S_ISREG(status.st_mode) or time.time() - last < SETTLED_SECONDS:
        return None
    return f"{status.st_size} {status.st_mtime_ns} {status.st_ctime_ns} {status.st_ino}"


def read_handed_in(root: Path, parts: Parts, name: Path) -> bytes:
    """The bytes of a file below `root`, which sentences call `name`.

    Links below `root` are not followed, whether they lead outside or to another student's work.
    Each folder on the path is opened from the one before, so that a link which takes a folder's
    place in the meantime is refused as well. A zip file on the path is opened.

    Raises:
        UnreadableNotebook: the file is a link, not a file, too large, or missing.
    """
    if not parts or any(part == ".." or Path(part).name != part for part in parts):
        raise UnreadableNotebook(f"{shown(name)} is not in the folder that is graded.")
    *folders, last = parts
    inside: Parts = ()
    with explained(name), ExitStack() as opened:
        folder = os.open(root, os.O_RDONLY | _DIRECTORY)
        opened.callback(os.close, folder)
        for depth, part in enumerate(folders):
            status = os.stat(part, dir_fd=folder, follow_symlinks=False)
            _refuse_link(status, name)
            if stat.S_ISREG(status.st_mode):
                last, inside = part, parts[depth + 1 :]
                break
            folder = os.open(part, _FOLDER, dir_fd=folder)
            opened.callback(os.close, folder)
        status = os.stat(last, dir_fd=folder, follow_symlinks=False)
        _refuse_link(status, name)
        refuse_unfit(status, name)
        with open(os.open(last, _FILE, dir_fd=folder), "rb") as file:  # noqa: PTH123  Path.open takes no descriptor
            refuse_unfit(os.fstat(file.fileno()), name)
            data = read_whole(file, name)
    return read_member(data, inside, name) if inside else data


def _refuse_link(status: os.stat_result, name: Path) -> None:
    if stat.S_ISLNK(status.st_mode):
        raise UnreadableNotebook(
            f"{shown(name)} is a link, or in a folder that is one, and no link is followed in what "
            "students hand in: put the file itself there."
        )
