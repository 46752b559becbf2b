"""A file replaced at one stroke."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path


def replace_whole(path: Path, chunks: Iterable[bytes]) -> None:
    """Put these bytes in a file's place: whatever happens, it has the old ones or the new.

    What a killed process leaves behind, `.NAME.tmp`, is overwritten the next time: whoever calls
    this holds the folder's lock.

    Raises:
        OSError: they cannot be written; what was there before still is.
    """
    temporary = temporary_name(path)
    try:
        with temporary.open("wb") as file:
            file.writelines(chunks)
            file.flush()
            os.fsync(file.fileno())  # or a power cut could leave the new name on an empty file
        temporary.replace(path)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise
    if os.name == "posix":
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def temporary_name(path: Path) -> Path:
    """Where the new bytes wait."""
    return path.with_name(f".{path.name}.tmp")
