"""A file that is written piece by piece, and is there whole or not at all."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TextIO

# Not `grader.state_folder.write_whole`: that one takes the whole text at once, turns line ends
# into the platform's, and makes a file that only its owner may read, which a mailed or published
# report must not be.


@contextmanager
def whole_file(path: Path, encoding: str = "utf-8", newline: str = "") -> Iterator[TextIO]:
    """A text file to write into, which takes the place of `path` when all went well.

    What cannot be said in the encoding is spelled out. Line ends are written as they are.

    Raises:
        OSError: it cannot be written; what was there before still is.
    """
    part = path.with_name(f".{path.name}.tmp")
    try:
        with part.open("w", encoding=encoding, errors="backslashreplace", newline=newline) as file:
            yield file
        part.replace(path)
    except BaseException:
        with suppress(OSError):
            part.unlink()
        raise


def write_text(path: Path, text: str) -> None:
    """Put a text in a file's place, where it is another.

    File systems make sure of a file that replaces another, which takes milliseconds: a second
    gradebook of the same class would spend most of its time on pages that have not changed.
    """
    with suppress(OSError):
        if path.read_bytes() == text.encode("utf-8", "backslashreplace"):
            return
    with whole_file(path) as file:
        file.write(text)
