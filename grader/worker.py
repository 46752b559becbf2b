"""The worker: a process of its own that runs students' statements on given values.

It reads requests from standard input and answers each on standard output. A request and every
result is one safetensors blob with JSON as its metadata; nothing is ever unpickled. References,
seeds of the upstreams and verdicts never come here.

Each request is run in a child of its own, forked from this process, which has torch imported
already. The child reports the statement it is about to run, so that whatever it dies of can be
blamed on a statement; the request is then taken up again by another child that leaves this
statement out.
"""

from __future__ import annotations

import json
import os
import select
import signal
import struct
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

import torch

from grader.execution import Request, run_request

LENGTH = struct.Struct("<Q")
EVENT = struct.Struct("<cIIQ")
"""What a child sends: kind, number of the run, number of the statement, bytes that follow."""

STARTED, FINISHED, DONE = b"s", b"f", b"d"

LARGEST_RESULT = 64 * 2**20
"""Bytes one run may send back."""

GRACE_SECONDS = 2.0
"""How long after its time limit a statement that cannot be interrupted is killed."""

HIGHEST_DESCRIPTOR = 4096
"""Far above any file descriptor that this process opens."""

MOST_CHILDREN = 8
"""How often a request is taken up again after a child died."""


class Gone(Exception):
    """A child ended, was killed or sent nonsense before it was done; the message says how."""


@dataclass(slots=True)
class Progress:
    """What is known of a request so far: results by run, and statements that killed a child."""

    results: dict[int, bytes] = field(default_factory=dict)
    deadly: dict[int, str] = field(default_factory=dict)
    current: int | None = None


def main() -> None:
    """Answer requests until standard input ends."""
    requests, replies = _take_over_pipes()
    # One thread each: many workers share a machine, and a fork keeps only the forking thread.
    torch.set_num_threads(1)
    while (payload := _read_frame(requests)) is not None:
        progress = _answer(payload)
        header = json.dumps({"runs": [[run, len(blob)] for run, blob in progress.results.items()]})
        parts = [header.encode(), *progress.results.values()]
        body = LENGTH.pack(len(parts[0])) + b"".join(parts)
        replies.write(LENGTH.pack(len(body)) + body)
        replies.flush()


def _take_over_pipes() -> tuple[IO[bytes], IO[bytes]]:
    """Keep the pipes to the judge for requests and replies: nothing else reads or prints there."""
    requests, replies = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(nowhere, standard)
    return requests, replies


def _read_frame(stream: IO[bytes]) -> bytes | None:
    head = stream.read(LENGTH.size)
    if len(head) < LENGTH.size:
        return None
    (length,) = LENGTH.unpack(head)
    return stream.read(length)


def _answer(payload: bytes) -> Progress:
    progress = Progress()
    request = Request.unpack(payload)
    if not hasattr(os, "fork"):
        # Windows: the judge's own deadline is all that ends an answer that hangs.
        run_request(request, {}, lambda run, statement: None, progress.results.__setitem__)
        return progress
    until = time.monotonic() + request.total_seconds
    for _ in range(MOST_CHILDREN):
        try:
            _run_child(request, progress, until)
        except Gone as gone:
            if progress.current is None or time.monotonic() >= until:
                break
            progress.deadly[progress.current] = str(gone)
        else:
            break
    return progress


def _run_child(request: Request, progress: Progress, until: float) -> None:
    """Fork a child for the runs that have no result yet, and listen to it."""
    reading, writing = os.pipe()
    progress.current = None
    child = os.fork()
    if child == 0:
        try:
            os.close(reading)
            _be_child(request, progress, writing)
        finally:
            os._exit(0)
    os.close(writing)
    try:
        _listen(reading, request, progress, until)
    finally:
        os.close(reading)
        _end(child)


def _be_child(request: Request, progress: Progress, pipe: int) -> None:
    # A group of its own, so that whatever the student's code starts ends with it.
    os.setsid()
    # The judge's own pipes too: what an answer wrote there would be the next answer's reply.
    os.closerange(3, pipe)
    os.closerange(pipe + 1, HIGHEST_DESCRIPTOR)
    _limit_resources(request.memory_bytes)

    def started(run: int, statement: int) -> None:
        os.write(pipe, EVENT.pack(STARTED, run, statement, 0))

    def finished(run: int, blob: bytes) -> None:
        _write_all(pipe, EVENT.pack(FINISHED, run, 0, len(blob)) + blob)

    run_request(request, progress.deadly, started, finished, skip=progress.results.keys())
    os.write(pipe, EVENT.pack(DONE, 0, 0, 0))


def _limit_resources(memory_bytes: int) -> None:
    """Bound what the child may take of the machine, beyond what it was born with."""
    import resource

    statm = Path("/proc/self/statm")
    if statm.exists():
        born_with = int(statm.read_text().split()[0]) * resource.getpagesize()
        limit = born_with + memory_bytes
        _, highest = resource.getrlimit(resource.RLIMIT_AS)
        if highest == resource.RLIM_INFINITY or limit < highest:
            resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _write_all(pipe: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(pipe, view) :]


def _listen(pipe: int, request: Request, progress: Progress, until: float) -> None:
    """Read a child's events until it is done.

    Raises:
        Gone: it died, hung or sent nonsense; `progress.current` is the statement it ran.
    """
    patience = request.statement_seconds + GRACE_SECONDS

    def read(length: int) -> bytes:
        data = bytearray()
        deadline = min(time.monotonic() + patience, until)
        while len(data) < length:
            ready, _, _ = select.select([pipe], [], [], max(0.0, deadline - time.monotonic()))
            if not ready:
                raise Gone(f"did not end within {request.statement_seconds:g} seconds")
            chunk = os.read(pipe, min(length - len(data), 2**20))
            if not chunk:
                raise Gone("ended the Python process that ran it")
            data += chunk
        return bytes(data)

    while True:
        kind, run, statement, length = EVENT.unpack(read(EVENT.size))
        if kind == DONE:
            return
        if kind == STARTED:
            progress.current = statement
        elif kind == FINISHED and run < len(request.runs) and length <= LARGEST_RESULT:
            progress.results[run] = read(length)
            progress.current = None
        else:
            raise Gone("sent back what no gradient can be")


def _end(child: int) -> None:
    """Kill a child with everything it started, and wait for it."""
    try:
        os.killpg(child, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        # It ended before it could make its group; macOS forbids to kill a group that has ended.
        os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


if __name__ == "__main__":
    main()
