"""Listening: what a child sends is taken down for as long as it gets on."""

from __future__ import annotations

import mmap
import os
import select
import struct
import time
from dataclasses import dataclass, field

from grader.worker.job import Terms
from grader.worker.scratch import Scratch
from grader.worker.terms import HUNG

CURRENT = struct.Struct("<QI")
"""What a child says in shared memory: how many statements it has begun, the number of the last."""

EVENT = struct.Struct("<cIQ")
"""What a child sends: kind, number of runs that are done, bytes that follow."""

FINISHED, DONE = b"f", b"d"

LARGEST_RESULT = 64 * 2**20
"""Bytes that the children of a request may send in all."""

GRACE_SECONDS = 2.0
"""How long after its time limit a statement that cannot be interrupted is killed."""


class Gone(Exception):
    """A child ended, was killed or sent nonsense before it was done; the message says how."""


class JudgeGone(Exception):
    """Nobody waits for the reply any more."""


@dataclass(slots=True)
class Progress:
    """What is known of a request so far, which is to be ended at the time `until`.

    `blobs` are the results of the first `done` runs, with how many each holds; `deadly` are
    statements that ended a child, with what came of it; `current` the statement that runs.
    `incidents` are what a human should know of; `unfit` says why this worker can go on no longer.
    """

    terms: Terms
    until: float
    blobs: list[tuple[int, memoryview]] = field(default_factory=list)
    done: int = 0
    deadly: dict[int, str] = field(default_factory=dict)
    current: int | None = None
    incidents: list[str] = field(default_factory=list)
    unfit: str | None = None

    @property
    def sent(self) -> int:
        """Bytes of the results so far."""
        return sum(len(blob) for _, blob in self.blobs)


def listen(pipe: int, shared: mmap.mmap, scratch: Scratch, judge: int, progress: Progress) -> None:
    """Read a child's events until it is done.

    Args:
        pipe: where it sends them.
        shared: where it says which statement it runs.
        scratch: where its results are kept.
        judge: the descriptor that hangs up when nobody waits for the reply.
        progress: takes down what is heard.

    Raises:
        Gone: it died, hung or sent nonsense; `progress.current` is the statement it ran.
        JudgeGone: nobody waits for the reply any more.
    """
    poll = select.poll()
    poll.register(pipe, select.POLLIN)
    # Without a wish of its own, a descriptor reports nothing but that it is hung up.
    poll.register(judge, 0)
    event = memoryview(bytearray(EVENT.size))
    try:
        while True:
            _fill(event, pipe, poll, shared, progress)
            kind, done, length = EVENT.unpack(event)
            if kind == DONE:
                return
            left = LARGEST_RESULT - progress.sent
            plausible = progress.done < done <= progress.terms.runs and length <= left
            if kind != FINISHED or not plausible:
                progress.incidents.append("This answer sent back what no gradient can be.")
                raise Gone("sent back what no gradient can be")
            blob = scratch.piece(length)
            _fill(blob, pipe, poll, shared, progress)
            progress.blobs.append((done - progress.done, blob))
            progress.done = done
    except Gone:
        progress.current = current_statement(shared)
        raise


def current_statement(shared: mmap.mmap) -> int | None:
    """The statement that a child says it runs; None before the first of a request."""
    begun, statement = CURRENT.unpack_from(shared)
    return statement if begun else None


def _fill(
    view: memoryview, pipe: int, poll: select.poll, shared: mmap.mmap, progress: Progress
) -> None:
    """Read until the memory is full, while the child gets on and somebody waits for it."""
    seconds = progress.terms.limits.statement_seconds
    patience = seconds + GRACE_SECONDS
    begun, _ = CURRENT.unpack_from(shared)
    deadline = time.monotonic() + patience
    position = 0
    while position < len(view):
        left = min(deadline, progress.until) - time.monotonic()
        ready = dict(poll.poll(max(0.0, left) * 1000))
        if pipe in ready:
            with view[position:] as rest:
                count = os.readv(pipe, [rest])
            if count == 0:
                raise Gone("ended the Python process that ran it")
            position += count
        elif ready:
            raise JudgeGone
        else:
            now, _ = CURRENT.unpack_from(shared)
            if now == begun or time.monotonic() >= progress.until:
                raise Gone(f"{HUNG} {seconds:g} second{'' if seconds == 1 else 's'}")
            # It has got on: so long for the statement it runs now.
            begun, deadline = now, time.monotonic() + patience
