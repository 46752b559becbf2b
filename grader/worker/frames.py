"""Frames: how the judge and a worker talk over pipes. Each has a head of some words, and a body."""

from __future__ import annotations

import json
import mmap
import struct
from collections.abc import Callable
from dataclasses import dataclass, field

SIZES = struct.Struct("<IQ")
"""A frame begins with the lengths of its head and of its body, in bytes."""

BROKEN_OFF = "the stream ended inside a frame"

Read = Callable[[memoryview], int | None]
"""Reads some bytes into memory and returns how many; 0 means that the stream has ended."""

Write = Callable[[memoryview], int | None]
"""Writes some bytes and returns how many."""


@dataclass(slots=True)
class Reply:
    """The reply to a request.

    `blob` has the results of its runs (see `grader.worker.results`), or of the first of them; it is
    empty if there are none. `deadly` maps each statement that ended or hung its process to how it
    did. `incidents` are sentences for a human.
    """

    blob: bytes | memoryview = b""
    deadly: dict[int, str] = field(default_factory=dict)
    incidents: list[str] = field(default_factory=list)

    def pack(self) -> tuple[bytes, bytes | memoryview]:
        """Return the head and the body of a frame."""
        return json.dumps([[*self.deadly.items()], self.incidents]).encode(), self.blob

    @classmethod
    def unpack(cls, head: memoryview, body: memoryview) -> Reply:
        """Invert `pack`."""
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
    """Read the next head and body, or return None if the stream ends before they begin.

    Args:
        read: the source of the bytes.
        largest: the most bytes that both may have together.

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
    """Allocate bytes that go back to the system together with their last view.

    Memory that is freed in the ordinary way stays in the process until it is used again, and a
    child would inherit it. But students' code and values must not stay in a process that forks.
    """
    size = max(length, 1)
    if not hasattr(mmap, "MAP_PRIVATE"):
        return memoryview(mmap.mmap(-1, size))[:length]
    # Private: a child has a copy, and cannot change what its parent has. At once, where Linux
    # offers that: to ask for one page after the other takes longer.
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | getattr(mmap, "MAP_POPULATE", 0)
    return memoryview(mmap.mmap(-1, size, flags))[:length]


def _fill(read: Read, view: memoryview) -> bool:
    """Read until the memory is full, or return False if the stream ends before."""
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
