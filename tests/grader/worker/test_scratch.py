import os
import subprocess
import sys
from pathlib import Path

import pytest

from grader.worker.scratch import Scratch

needs_linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc")


@pytest.mark.parametrize("data", [b"", b"a", bytes(range(256)) * 1000])
def test_what_is_read_is_what_was_sent(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "data"
    path.write_bytes(data + b"more")
    descriptor = os.open(path, os.O_RDONLY)
    try:
        with Scratch() as scratch:
            assert bytes(scratch.read(descriptor, len(data))) == data
            assert bytes(scratch.read(descriptor, 4)) == b"more"
            with pytest.raises(ValueError, match="3 bytes early"):
                scratch.read(descriptor, 3)
    finally:
        os.close(descriptor)


def test_a_view_cannot_be_used_afterwards() -> None:
    with Scratch() as scratch:
        view = scratch.piece(3)
        view[:] = b"abc"
    with pytest.raises(ValueError, match="released"):
        bytes(view)


REMAINS = """
import ctypes, os, re, sys
sys.path.insert(0, sys.argv[1])
from grader.worker.scratch import Scratch

def receive(descriptor, length):
    if sys.argv[2] == "scratch":
        with Scratch() as scratch:
            return len(scratch.read(descriptor, length))
    data = b""
    while chunk := os.read(descriptor, length):
        data += chunk
    return len(data)

reading, writing = os.pipe()
if os.fork() == 0:
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
        timeout=60,
        check=True,
    )
    return int(done.stdout)


@needs_linux
def test_a_later_child_finds_nothing_of_an_earlier_answer(project: Path) -> None:
    assert _remains("plain", project) > 100
    assert _remains("scratch", project) == 0
