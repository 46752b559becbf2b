"""Frames: how the judge and a worker talk over pipes. Each has a head of some words, and a body."""

from __future__ import annotations

import json
import mmap
import struct
from collections.abc import Callable
from dataclasses import dataclass, field

SIZES = struct.Struct("<IQ")
"""How a frame begins: with the bytes of its head and those of its body."""

BROKEN_OFF = "the stream ended inside a frame"

Read = Callable[[memoryview], int | None]
"""Reads some bytes into memory and says how many; none where the stream has ended."""

Write = Callable[[memoryview], int | None]
"""Writes some bytes and says how many."""


@dataclass(slots=True)
class Reply:
    """What came of a request.

    `blob` are the results of its runs (see `grader.worker.results`), of all or of the first ones;
    none if it is empty. `deadly` are the statements that ended or hung the process they ran in,
    with what came of it. `incidents` are sentences for a human.
    """

    blob: bytes | memoryview = b""
    deadly: dict[int, str] = field(default_factory=dict)
    incidents: list[str] = field(default_factory=list)

    def pack(self) -> tuple[bytes, bytes | memoryview]:
        """The head and the body of a frame."""
        return json.dumps([[*self.deadly.items()], self.incidents]).encode(), self.blob

    @classmethod
    def unpack(cls, head: memoryview, body: memoryview) -> Reply:
        """The inverse of `pack`."""
        deadly, incidents = json.loads(bytes(head))
        return cls(body, {int(n): str(how) for n, how in deadly}, [str(one) for one in incidents])


def write_frame(write: Write, head: bytes, body: bytes | memoryview = b"") -> None:
    """Send a head and a body."""
    for part in (SIZES.pack(len(head), len(body)), head, body):
        with memoryview(part) as view:
            position = 0
            while position < len(view):
                with view[position:] as rest:
                    position += write(rest) or 0


def read_frame(read: Read, largest: int) -> tuple[memoryview, memoryview] | None:
    """The next head and body; None where the stream ends before they begin.

    Args:
        read: where the bytes come from.
        largest: bytes that both together may have.

    Raises:
        ValueError: the stream ends inside the frame, or it is too large.
    """
    start = memoryview(bytearray(SIZES.size))
    if not _fill(read, start):
        return None
    sizes = SIZES.unpack(start)
    if sum(sizes) > largest:
        raise ValueError(f"a frame of {sum(sizes)} bytes")
    head, body = map(_fresh_memory, sizes)
    if not (_fill(read, head) and _fill(read, body)):
        raise ValueError(BROKEN_OFF)
    return head, body


def _fresh_memory(length: int) -> memoryview:
    """So many bytes that go back to the system with the last view of them.

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


def _fill(read: Read, view: memoryview) -> bool:
    """Read until the memory is full; False where the stream has ended before."""
    position = 0
    while position < len(view):
        with view[position:] as rest:
            count = read(rest)
        if not count and position:
            raise ValueError(BROKEN_OFF)
        if not count:
            return False
        position += count
    return True
