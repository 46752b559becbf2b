import subprocess
import sys
from pathlib import Path

import pytest

from grader.worker.scratch import Scratch

needs_linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc")


@pytest.mark.parametrize("length", [0, 1, 300_000])
def test_a_piece_has_its_length_and_is_zero(length: int) -> None:
    with Scratch() as scratch:
        assert bytes(scratch.piece(length)) == bytes(length)
        assert bytes(scratch.piece(4)) == bytes(4)


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
            view, position = scratch.piece(36_000), 0
            while position < len(view):
                with view[position:] as rest:
                    position += os.readv(descriptor, [rest])
            return position
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
        timeout=600,
        check=True,
    )
    return int(done.stdout)


@needs_linux
def test_a_later_child_finds_nothing_of_an_earlier_answer(project: Path) -> None:
    assert _remains("plain", project) > 100
    assert _remains("scratch", project) == 0
