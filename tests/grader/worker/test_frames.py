"""Frames: what is written is read, and what is not a frame is an error."""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path
from typing import cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.worker.frames import SIZES, read_frame, write_frame

needs_linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc")

FRAMES: tuple[tuple[bytes, bytes], ...] = (
    (b"", b""),
    (b"abc", b""),
    (b"", b"abc"),
    (b"a" * 2**17, b"\x00" * 3),
)


class Dribble(io.RawIOBase):
    """A pipe that takes and gives a few bytes at a time, and now and then none."""

    def __init__(self, data: bytes = b"", most: int = 2**20) -> None:
        self.data = bytearray(data)
        self.most = most
        self.turns = 0
        self.taken = 0

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        count = min(len(buffer), self.most, len(self.data) - self.taken)
        buffer[:count] = self.data[self.taken : self.taken + count]
        self.taken += count
        return count

    def write(self, data: memoryview) -> int | None:  # type: ignore[override]
        self.turns += 1
        if self.most < 10 and self.turns % 3 == 0:
            return None
        self.data += data[: self.most]
        return min(len(data), self.most)


def stream(data: bytes = b"", most: int = 2**20) -> io.FileIO:
    return cast(io.FileIO, Dribble(data, most))


def framed(*frames: tuple[bytes, bytes], most: int = 2**20) -> bytes:
    written = stream(most=most)
    for head, body in frames:
        write_frame(written.write, head, body)
    return bytes(cast(Dribble, written).data)


def read(source: io.FileIO, largest: int) -> tuple[bytes, bytes] | None:
    frame = read_frame(source.readinto, largest)
    return None if frame is None else (bytes(frame[0]), bytes(frame[1]))


def test_frames_come_out_one_after_the_other_as_they_went_in() -> None:
    sent = stream(framed(*FRAMES))
    assert [read(sent, 2**20) for _ in FRAMES] == list(FRAMES)
    assert read(sent, 2**20) is None


@given(st.binary(max_size=40), st.binary(max_size=40), st.integers(1, 9))
@settings(max_examples=60, deadline=None)
def test_any_frame_survives_in_pieces_of_any_size(head: bytes, body: bytes, most: int) -> None:
    assert framed((head, body), most=most) == framed((head, body))
    assert read(stream(framed((head, body)), most), 2**10) == (head, body)


@pytest.mark.parametrize("frame", [(b"abc", b"de"), (b"abc", b""), (b"", b"de")])
def test_a_frame_that_breaks_off_anywhere_is_an_error(frame: tuple[bytes, bytes]) -> None:
    whole = framed(frame)
    assert read(stream(b""), 100) is None
    for length in range(1, len(whole)):
        with pytest.raises(ValueError, match="ended inside a frame"):
            read(stream(whole[:length]), 100)


@pytest.mark.parametrize("sizes", [(101, 0), (0, 101), (60, 60), (2**32 - 1, 2**64 - 1)])
def test_a_frame_that_is_too_large_is_refused_before_it_is_read(sizes: tuple[int, int]) -> None:
    source = stream(SIZES.pack(*sizes) + b"x" * 200)
    with pytest.raises(ValueError, match=f"a frame of {sum(sizes)} bytes"):
        read(source, 100)
    assert cast(Dribble, source).taken == SIZES.size


def test_a_frame_of_just_the_largest_size_is_read() -> None:
    assert read(stream(framed((b"x" * 60, b"y" * 40))), 100) == (b"x" * 60, b"y" * 40)


REMAINS = """
import ctypes, os, re, sys
sys.path.insert(0, sys.argv[1])
from grader.worker.frames import SIZES, read_frame

def receive(descriptor, length):
    if sys.argv[2] == "fresh":
        return len(read_frame(lambda view: os.readv(descriptor, [view]), 2**20)[1])
    os.read(descriptor, SIZES.size)
    data = b""
    while chunk := os.read(descriptor, length):
        data += chunk
    return len(data)

reading, writing = os.pipe()
if os.fork() == 0:
    os.write(writing, SIZES.pack(0, 36_000))
    os.write(writing, b"".join(b"right-%d-value;" % number for number in range(10_000, 12_000)))
    os._exit(0)
os.close(writing)
assert receive(reading, 2000 * 18) == 36_000
os.wait()
if os.fork() == 0:
    found = 0
    for line in open("/proc/self/maps"):
        bounds, access, *_ = line.split()
        if access == "rw-p":
            start, end = (int(bound, 16) for bound in bounds.split("-"))
            memory = ctypes.string_at(start, end - start)
            found += len(re.findall(rb"right-\\d{5}-value", memory))
    os.write(1, b"%d" % found)
    os._exit(0)
os.wait()
"""


def _remains(how: str, project: Path) -> int:
    done = subprocess.run(
        [sys.executable, "-c", REMAINS, str(project), how],
        capture_output=True,
        timeout=600,
        check=True,
    )
    return int(done.stdout)


@needs_linux
def test_a_later_child_finds_nothing_of_an_earlier_answer(project: Path) -> None:
    assert _remains("plain", project) > 100
    assert _remains("fresh", project) == 0
