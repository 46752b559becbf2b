"""A text that is written piece by piece, and is there whole or not at all."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TextIO

import grader.whole_file as any_file


@contextmanager
def whole_file(path: Path, encoding: str = "utf-8", newline: str = "") -> Iterator[TextIO]:
    """A text file to write into, which takes the place of `path` when all went well.

    What cannot be said in the encoding is spelled out. Line ends are written as they are.

    Raises:
        OSError: it cannot be written; what was there before still is.
    """
    with any_file.whole_file(path) as file:
        text = io.TextIOWrapper(file, encoding, errors="backslashreplace", newline=newline)
        yield text
        text.detach()


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
