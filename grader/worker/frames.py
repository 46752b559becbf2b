"""Frames: how the judge and a worker talk over a pipe, in byte strings of known lengths."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from io import FileIO

COUNT = struct.Struct("<I")
LENGTH = struct.Struct("<Q")

MOST_PARTS = 2**16


def ordinary_memory(length: int) -> memoryview:
    """So many bytes, all zero."""
    return memoryview(bytearray(length))


def write_frame(stream: FileIO, parts: Sequence[bytes | memoryview]) -> None:
    """Send some byte strings as one frame: their number, their lengths, themselves."""
    for part in (frame_head(parts), *parts):
        with memoryview(part) as view:
            position = 0
            while position < len(view):
                with view[position:] as rest:
                    position += stream.write(rest) or 0


def frame_head(parts: Sequence[bytes | memoryview]) -> bytes:
    """What a frame begins with: how many parts there are, and how long each is."""
    return b"".join([COUNT.pack(len(parts)), *(LENGTH.pack(len(part)) for part in parts)])


def read_frame(
    stream: FileIO, largest: int, allocate: Callable[[int], memoryview] = ordinary_memory
) -> list[memoryview] | None:
    """The byte strings of the next frame; None where the stream ends before it begins.

    Args:
        stream: an unbuffered stream.
        largest: bytes a frame may have.
        allocate: where the bytes are to be kept.

    Raises:
        ValueError: the stream ends inside the frame, or it is too large.
    """
    head = ordinary_memory(COUNT.size)
    if not _fill(stream, head, may_end=True):
        return None
    (count,) = COUNT.unpack(head)
    if count > MOST_PARTS:
        raise ValueError(f"a frame of {count} parts")
    lengths = ordinary_memory(count * LENGTH.size)
    _fill(stream, lengths)
    sizes = [size for (size,) in LENGTH.iter_unpack(lengths)]
    if sum(sizes) > largest:
        raise ValueError(f"a frame of {sum(sizes)} bytes")
    parts = [allocate(size) for size in sizes]
    for part in parts:
        _fill(stream, part)
    return parts


def _fill(stream: FileIO, view: memoryview, may_end: bool = False) -> bool:
    """Read until the memory is full; False where the stream has ended, if that may be.

    Raises:
        ValueError: the stream ends in the middle.
    """
    position = 0
    while position < len(view):
        with view[position:] as rest:
            count = stream.readinto(rest)
        if not count:
            if position or not may_end:
                raise ValueError("the stream ended inside a frame")
            return False
        position += count
    return True
