"""Replace a file as a whole: a reader finds the old bytes or the new, never half."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO


@contextmanager
def whole_file(path: Path, *, durable: bool = False) -> Iterator[BinaryIO]:
    """Give a new file to write into, and put it in the place of `path` when all went well.

    The new file keeps the permissions of the old one. Processes may write the same `path` at once:
    the last one wins. A killed process leaves its new file behind, under a name that
    `is_left_over` knows. A pipe or a device, such as /dev/null, is written to and stays.

    Args:
        path: holds the old bytes or the new, whatever happens.
        durable: True if that holds after a power cut too; it takes milliseconds.

    Raises:
        OSError: it cannot be written; `path` is as it was.
    """
    if path.exists() and not path.is_file() and not path.is_dir():
        with path.open("wb") as file:
            yield file
        return
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with temporary.open("wb") as file:
            if path.exists():
                shutil.copymode(path, temporary)
            yield file
            if durable:
                file.flush()
                os.fsync(file.fileno())  # or the new name could stand on an empty file
        temporary.replace(path)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise
    if durable and os.name == "posix":
        with suppress(OSError):  # a file system that cannot: the file is replaced all the same
            _sync_folder(path.parent)


def write_whole(path: Path, data: bytes | str, *, durable: bool = False) -> None:
    """Replace a file with `whole_file`; text becomes UTF-8, half a surrogate pair is spelled out.

    Raises:
        OSError: it cannot be written; `path` is as it was.
    """
    with whole_file(path, durable=durable) as file:
        file.write(data.encode("utf-8", "backslashreplace") if isinstance(data, str) else data)


def is_format(found: object, known: int) -> bool:
    """True if what a file says of its format is that number: `true` equals 1, and so does 1.0."""
    return type(found) is int and found == known


def is_left_over(path: Path) -> bool:
    """True if `path` is what a killed process left of a file it was about to replace."""
    return re.fullmatch(r"\..+\.\d+\.tmp", path.name) is not None


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
