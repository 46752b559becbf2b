"""Frames: how judge, worker and an answer's process talk over pipes, in byte strings."""

from __future__ import annotations

import mmap
import struct
from collections.abc import Callable, Sequence

COUNT = struct.Struct("<I")
LENGTH = struct.Struct("<Q")

MOST_PARTS = 2**16

Read = Callable[[memoryview], int | None]
"""Reads some bytes into memory and says how many; none where the stream has ended."""

Write = Callable[[memoryview], int | None]
"""Writes some bytes and says how many."""


def write_frame(write: Write, parts: Sequence[bytes | memoryview]) -> None:
    """Send some byte strings as one frame: their number, their lengths, themselves."""
    head = b"".join([COUNT.pack(len(parts)), *(LENGTH.pack(len(part)) for part in parts)])
    for part in (head, *parts):
        with memoryview(part) as view:
            position = 0
            while position < len(view):
                with view[position:] as rest:
                    position += write(rest) or 0


def read_frame(read: Read, largest: int) -> list[memoryview] | None:
    """The byte strings of the next frame; None where the stream ends before it begins.

    Args:
        read: where its bytes come from.
        largest: bytes a frame may have.

    Raises:
        ValueError: the stream ends inside the frame, or it is too large.
    """
    head = memoryview(bytearray(COUNT.size))
    if not _fill(read, head, may_end=True):
        return None
    (count,) = COUNT.unpack(head)
    if count > MOST_PARTS:
        raise ValueError(f"a frame of {count} parts")
    lengths = memoryview(bytearray(count * LENGTH.size))
    _fill(read, lengths)
    sizes = [size for (size,) in LENGTH.iter_unpack(lengths)]
    if sum(sizes) > largest:
        raise ValueError(f"a frame of {sum(sizes)} bytes")
    parts = [fresh_memory(size) for size in sizes]
    for part in parts:
        _fill(read, part)
    return parts


def fresh_memory(length: int) -> memoryview:
    """So many bytes, all zero, that go back to the system with the last view of them.

    What a process frees otherwise stays in its memory until it is used again, and a child inherits
    all of it: students' code and values must not stay in a process that forks.
    """
    size = max(length, 1)
    if not hasattr(mmap, "MAP_PRIVATE"):
        return memoryview(mmap.mmap(-1, size))[:length]
    # Private: a child has a copy, and cannot change what its parent has. At once, where Linux
    # offers that: to ask for one page after the other takes longer.
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | getattr(mmap, "MAP_POPULATE", 0)
    return memoryview(mmap.mmap(-1, size, flags))[:length]


def _fill(read: Read, view: memoryview, may_end: bool = False) -> bool:
    """Read until the memory is full; False where the stream has ended, if that may be.

    Raises:
        ValueError: the stream ends in the middle.
    """
    position = 0
    while position < len(view):
        with view[position:] as rest:
            count = read(rest)
        if not count:
            if position or not may_end:
                raise ValueError("the stream ended inside a frame")
            return False
        position += count
    return True
