"""Children: each answer runs in a process of its own, forked from the warm worker."""

from __future__ import annotations

import mmap
import os
import select
import signal
import socket
import struct
import time
from collections.abc import Mapping
from dataclasses import dataclass

from grader.worker.confinement import NOT_CONFINED, Confinement, refuse_for_good
from grader.worker.frames import Reply
from grader.worker.job import Job, Values
from grader.worker.results import pack_results
from grader.worker.run_job import run_job
from grader.worker.terms import HUNG, Limits

CURRENT = struct.Struct("<QI")
"""What the shared memory begins with: how many statements have begun, the number of the last."""

LENGTH = struct.Struct("<Q")
"""What is sent through the pipe: how many bytes stand in the shared memory, behind `CURRENT`."""

LARGEST_RESULT = 64 * 2**20
"""Bytes that a child may answer with."""

GRACE_SECONDS = 2.0
"""How long after its time limit a statement that cannot be interrupted is killed."""

MOST_CHILDREN = 8
"""How many processes a request gets: after one has died it is taken up by another."""

FAILED = 114
"""How a child ends that failed outside of the answer's statements."""

ENDED, NONSENSE = "ended the Python process that ran it", "sent back what no gradient can be"


class Gone(Exception):
    """A child ended or was killed before it was done; the message says how."""


class JudgeGone(Exception):
    """Nobody waits for the reply any more."""


class NotConfined(Exception):
    """A child could not be confined as it should be, and has run nothing."""


class Child:
    """A process for one answer: it runs the request it was born with, then others it is handed.

    What it has to say lies in memory that it shares with this process. A pipe tells only that it
    is there: nothing that a child writes, or does not, makes this process wait.
    """

    def __init__(
        self, body: memoryview, limits: Limits, warm: Warm, deadly: Mapping[int, str], until: float
    ) -> None:
        self._pipe, its_end = socket.socketpair()
        # The kernel hands out a page of it when that is written.
        self._shared = mmap.mmap(-1, CURRENT.size + LARGEST_RESULT)
        self._process = os.fork()
        if self._process == 0:
            self._live(body, limits, warm, deadly, until, its_end.fileno())
        its_end.close()
        self._poll = select.poll()
        self._poll.register(self._pipe, select.POLLIN)
        # Without a wish of its own, a descriptor reports nothing but that it is hung up.
        self._poll.register(warm.judge, 0)

    def _live(
        self,
        request: bytes | memoryview,
        limits: Limits,
        warm: Warm,
        deadly: Mapping[int, str],
        until: float,
        pipe: int,
    ) -> None:
        """In the child: make the runs of each request."""
        status = FAILED
        try:
            warm.confinement.enter(limits.memory_bytes, limits.total_seconds, pipe)
            refuse_for_good()
            while True:
                job = Job.unpack(request)
                until = until or time.monotonic() + job.limits.total_seconds
                groups = warm.values[job.values].groups
                blob = pack_results([*run_job(job, groups, deadly, self._say_begun, until)])
                self._shared[CURRENT.size : CURRENT.size + len(blob)] = blob
                os.write(pipe, LENGTH.pack(len(blob)))
                if not (order := os.read(pipe, LENGTH.size)):
                    break
                request = self._shared[CURRENT.size : CURRENT.size + LENGTH.unpack(order)[0]]
                deadly, until = {}, 0.0
            status = 0
        finally:
            os._exit(status)

    def _say_begun(self, statement: int) -> None:
        begun, _ = CURRENT.unpack_from(self._shared)
        CURRENT.pack_into(self._shared, 0, begun + 1, statement)

    @property
    def current(self) -> int | None:
        """The statement that it says it runs; None before the first of a request."""
        begun, statement = CURRENT.unpack_from(self._shared)
        return statement if begun else None

    def ask(self, body: memoryview) -> None:
        """Hand it another request.

        Raises:
            ValueError, OSError: it does not take that.
        """
        # What it ran last must not be blamed for what comes now.
        CURRENT.pack_into(self._shared, 0, 0, 0)
        self._shared[CURRENT.size : CURRENT.size + len(body)] = body
        os.write(self._pipe.fileno(), LENGTH.pack(len(body)))

    def listen(self, limits: Limits, until: float) -> memoryview:
        """Its results.

        Raises:
            Gone, OSError: it died or hung.
            ValueError: it sent nonsense.
            JudgeGone: nobody waits for the reply any more.
        """
        patience = limits.statement_seconds + GRACE_SECONDS
        begun, deadline = 0, time.monotonic() + patience
        while True:
            left = min(deadline, until + GRACE_SECONDS) - time.monotonic()
            ready = dict(self._poll.poll(max(0.0, left) * 1000))
            if self._pipe.fileno() in ready:
                break
            if ready:
                raise JudgeGone
            now, _ = CURRENT.unpack_from(self._shared)
            if now == begun or time.monotonic() >= until:
                seconds = limits.statement_seconds
                raise Gone(f"{HUNG} {seconds:g} second{'' if seconds == 1 else 's'}")
            # It has got on: so long for the statement it runs now.
            begun, deadline = now, time.monotonic() + patience
        sent = self._pipe.recv(LENGTH.size)
        if not sent:
            raise Gone(ENDED)
        length = int.from_bytes(sent, "little") if len(sent) == LENGTH.size else 0
        if not 0 < length <= LARGEST_RESULT:
            raise ValueError("no length")
        return memoryview(self._shared)[CURRENT.size : CURRENT.size + length]

    def end(self) -> int:
        """Kill it with everything it started; how it ended, as `os.waitpid` says it."""
        try:
            os.killpg(self._process, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            # It ended before it could make its group; macOS forbids to kill one that has ended.
            os.kill(self._process, signal.SIGKILL)
        self._pipe.close()
        return os.waitpid(self._process, 0)[1]


@dataclass(slots=True)
class Warm:
    """What a worker has ready for every request.

    `judge` is the descriptor requests come from, which hangs up when nobody waits for the reply.
    `child` is that of the last request's answer: it waits for more of the same.
    """

    confinement: Confinement
    values: Mapping[str, Values]
    judge: int
    child: Child | None = None

    def end_answer(self) -> int:
        """End the child that waits: nothing more of its answer is run. How it ended."""
        child, self.child = self.child, None
        return child.end() if child else 0

    def answer(self, body: memoryview, limits: Limits, continues: bool) -> Reply:
        """Run a request in a child, again without the statement it died of where it did.

        The request is read in the child only: what it holds is not to stay in this process, from
        which the next answer's child is forked. What `continues` is run by the child that waits.

        Raises:
            JudgeGone: nobody waits for the reply any more.
            NotConfined: no child can be made as it should be.
        """
        if not continues or len(body) > LARGEST_RESULT:
            # Nothing that is asked of one answer is run where another was.
            self.end_answer()
        reply, until = Reply(), time.monotonic() + limits.total_seconds
        for _ in range(MOST_CHILDREN):
            is_new = self.child is None
            child = self.child = self.child or Child(body, limits, self, reply.deadly, until)
            try:
                if not is_new:
                    child.ask(body)
                reply.blob = child.listen(limits, until)
                break
            except (Gone, ValueError, OSError) as error:
                current = child.current
                how = str(error) if isinstance(error, Gone) else ENDED
                if isinstance(error, ValueError):
                    how = NONSENSE
                    reply.incidents.append(f"This answer {NONSENSE}.")
                reply.incidents += _read_end(self.end_answer(), is_new and current is None)
                is_over = time.monotonic() >= until
                if current is not None and not is_over:
                    reply.deadly[current] = how
                if is_over or (is_new and current is None):
                    break  # another would do no better
        return reply


def answer_here(body: memoryview, values: Mapping[str, Values]) -> Reply:
    """Run a request in this very process, where there is no fork (Windows)."""
    job = Job.unpack(body)
    return Reply(pack_results(list(run_job(job, values[job.values].groups))))


def _read_end(status: int, may_be_unconfined: bool) -> list[str]:
    """What a child's end tells of what it would not say."""
    if os.WIFSIGNALED(status):
        is_filtered = os.WTERMSIG(status) == getattr(signal, "SIGSYS", None)
        asked = "This answer asked the system for what no gradient needs."
        return [asked] if is_filtered else []
    if may_be_unconfined and os.WEXITSTATUS(status) == NOT_CONFINED:
        raise NotConfined
    if os.WEXITSTATUS(status) == FAILED:
        return [
            "A process failed outside of this answer's statements: for want of memory, or by a"
            " mistake in the grader."
        ]
    return []
