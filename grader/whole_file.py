"""A file replaced at one stroke."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

# Not `grader.state_folder.write_whole`: that one takes the whole text at once, turns line ends
# into the platform's, and makes a file that only its owner may read, which a mailed or published
# report must not be.


@contextmanager
def whole_file(path: Path, durable: bool = False) -> Iterator[BinaryIO]:
    """A file to write into, which takes the place of `path` when all went well.

    What a killed process leaves behind, `.NAME.tmp`, is overwritten the next time: no two may
    write the same file at once.

    Args:
        path: whatever happens, it holds the old bytes or the new.
        durable: whether that is to be so after a power cut, too; it takes milliseconds.

    Raises:
        OSError: it cannot be written; what was there before still is.
    """
    temporary = temporary_name(path)
    try:
        with temporary.open("wb") as file:
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
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def temporary_name(path: Path) -> Path:
    """Where the new bytes wait."""
    return path.with_name(f".{path.name}.tmp")
