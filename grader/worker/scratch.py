"""Scratch memory: where an answer's bytes are kept so that the next one cannot find them."""

from __future__ import annotations

import mmap
from typing import Self


class Scratch:
    """Memory for what comes in about one answer; gone, page by page, when it is left.

    What a process frees stays in its memory until it is used again, and a child inherits all of
    it: students' code and values must never become Python objects in a process that forks. Use
    as a context manager around an answer; views of it must not be kept.
    """

    def __init__(self) -> None:
        self._pieces: list[tuple[mmap.mmap, memoryview]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Give all of it back; raises BufferError where somebody still has a view of it."""
        while self._pieces:
            memory, view = self._pieces.pop()
            view.release()
            memory.close()

    def piece(self, length: int) -> memoryview:
        """So many bytes of this memory, all zero."""
        size = max(length, 1)
        if hasattr(mmap, "MAP_PRIVATE"):
            # Private: a child has a copy, and cannot change what its parent has.
            # At once, where Linux offers that: to ask for one page after the other takes longer.
            at_once = getattr(mmap, "MAP_POPULATE", 0)
            memory = mmap.mmap(-1, size, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | at_once)
        else:
            memory = mmap.mmap(-1, size)
        self._pieces.append((memory, memoryview(memory)[:length]))
        return self._pieces[-1][1]
