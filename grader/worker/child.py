"""Children: each answer runs in a process of its own, forked from the warm worker."""

from __future__ import annotations

import math
import mmap
import os
import select
import signal
import struct
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from io import FileIO

from grader.worker.confinement import NOT_CONFINED, Confinement, refuse_for_good
from grader.worker.frames import COUNT, read_frame, write_frame
from grader.worker.job import Job, Terms, Values
from grader.worker.results import pack_results
from grader.worker.run_job import run_job
from grader.worker.terms import HUNG, LARGEST_REQUEST

CURRENT = struct.Struct("<QI")
"""What a child says in shared memory: how many statements it has begun, the number of the last."""

LARGEST_RESULT = 64 * 2**20
"""Bytes that a child may send."""

GRACE_SECONDS = 2.0
"""How long after its time limit a statement that cannot be interrupted is killed."""

WIDE_PIPE = 2**20
"""Bytes; what Linux gives anybody. Each time a pipe is full, two processes wait."""

MOST_CHILDREN = 8
"""How many processes a request gets: after one has died it is taken up by another."""

FAILED = 114
"""How a child ends that failed outside of the answer's statements."""


class Gone(Exception):
    """A child ended, was killed or sent nonsense before it was done; the message says how."""


class JudgeGone(Exception):
    """Nobody waits for the reply any more."""


class Child:
    """A process for one answer: what it is told to run by, what comes of it, where it has got to.

    `orders` is a pipe for the requests after the first, which it was born with; `judge` is a
    descriptor that hangs up when nobody waits for the reply.
    """

    def __init__(self, parts: Sequence[memoryview], warm: Warm, answered: Answered) -> None:
        told, self._orders = os.pipe()
        self._results, writing = os.pipe()
        if sys.platform == "linux":
            import fcntl

            # Too many wide pipes, and the kernel allows no more: a narrow one does as well.
            with suppress(OSError):
                for pipe in (told, writing):
                    fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, WIDE_PIPE)
        # Anonymous and shared: a write to it costs nothing, one to a pipe would wake this process.
        self._shared = mmap.mmap(-1, CURRENT.size)
        self._process = os.fork()
        if self._process == 0:
            self._live(parts, warm, answered, told, writing)
        os.close(told)
        os.close(writing)
        # One that does not read must not make this process wait.
        os.set_blocking(self._orders, False)
        self._poll, self._room = select.poll(), select.poll()
        self._poll.register(self._results, select.POLLIN)
        # Without a wish of its own, a descriptor reports nothing but that it is hung up.
        self._poll.register(warm.judge, 0)
        self._room.register(self._orders, select.POLLOUT)

    def _live(
        self,
        parts: Sequence[memoryview],
        warm: Warm,
        answered: Answered,
        told: int,
        writing: int,
    ) -> None:
        """In the child: make the runs of the request, then those of others that it is handed."""
        status = FAILED
        try:
            limits = Terms.read(parts).limits
            warm.confinement.enter(limits.memory_bytes, limits.total_seconds, told, writing)
            refuse_for_good()
            self._serve(parts, warm, answered.deadly, answered.until, writing)
            with FileIO(told) as stream:
                while (more := read_frame(stream.readinto, LARGEST_REQUEST)) is not None:
                    until = time.monotonic() + Terms.read(more).limits.total_seconds
                    self._serve(more, warm, {}, until, writing)
            status = 0
        finally:
            os._exit(status)

    def _serve(
        self,
        parts: Sequence[memoryview],
        warm: Warm,
        deadly: Mapping[int, str],
        until: float,
        pipe: int,
    ) -> None:
        job = Job.unpack(parts)
        begun = 0

        def started(statement: int) -> None:
            nonlocal begun
            begun += 1
            CURRENT.pack_into(self._shared, 0, begun, statement)

        groups = warm.values[job.values].groups
        results = list(run_job(job, groups, deadly, started, until))
        reply = [COUNT.pack(len(results)), pack_results(results)]
        write_frame(lambda view: os.write(pipe, view), reply)

    def ask(self, parts: Sequence[memoryview]) -> None:
        """Hand it another request; raises `Gone` if it does not take it."""
        # What it ran last must not be blamed for what comes now.
        CURRENT.pack_into(self._shared, 0, 0, 0)
        write_frame(self._write, parts)

    def _write(self, view: memoryview) -> int:
        if not self._room.poll(GRACE_SECONDS * 1000):
            raise Gone("takes no request")
        try:
            return os.write(self._orders, view)
        except BlockingIOError:
            return 0  # less room than the kernel writes at once: `poll` says when there is
        except BrokenPipeError as error:
            raise Gone("takes no request") from error

    def listen(self, terms: Terms, until: float) -> tuple[int, memoryview]:
        """How many runs it has made, and their results.

        Raises:
            Gone: it died, hung or sent nonsense.
            JudgeGone: nobody waits for the reply any more.
        """
        patience = terms.limits.statement_seconds + GRACE_SECONDS
        begun, _ = CURRENT.unpack_from(self._shared)
        deadline = time.monotonic() + patience

        def read(view: memoryview) -> int:
            nonlocal begun, deadline
            while True:
                left = min(deadline, until + GRACE_SECONDS) - time.monotonic()
                ready = dict(self._poll.poll(max(0.0, left) * 1000))
                if self._results in ready:
                    if count := os.readv(self._results, [view]):
                        return count
                    raise Gone("ended the Python process that ran it")
                if ready:
                    raise JudgeGone
                now, _ = CURRENT.unpack_from(self._shared)
                if now == begun or time.monotonic() >= until:
                    seconds = terms.limits.statement_seconds
                    raise Gone(f"{HUNG} {seconds:g} second{'' if seconds == 1 else 's'}")
                # It has got on: so long for the statement it runs now.
                begun, deadline = now, time.monotonic() + patience

        match read_frame(read, LARGEST_RESULT):
            case [count, blob] if len(count) == COUNT.size:
                (runs,) = COUNT.unpack(count)
                if runs <= terms.runs:
                    return runs, blob
        raise ValueError("another number of runs")

    @property
    def current(self) -> int | None:
        """The statement that it says it runs; None before the first of a request."""
        begun, statement = CURRENT.unpack_from(self._shared)
        return statement if begun else None

    def end(self) -> int:
        """Kill it with everything it started; how it ended, as `os.waitpid` says it."""
        try:
            os.killpg(self._process, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            # It ended before it could make its group; macOS forbids to kill one that has ended.
            os.kill(self._process, signal.SIGKILL)
        status = os.waitpid(self._process, 0)[1]
        os.close(self._orders)
        os.close(self._results)
        self._shared.close()
        return status


@dataclass(slots=True)
class Warm:
    """What a worker has ready for every request.

    `judge` is the descriptor requests come from. `stayed` is the child that waits for more of the
    last request's answer; `unfit` says what the last that did so has left behind.
    """

    confinement: Confinement
    values: Mapping[str, Values]
    judge: int
    stayed: Child | None = None
    unfit: str | None = None

    def end_answer(self) -> None:
        """End the child that stayed: nothing more of its answer is run."""
        if self.stayed is not None:
            self.stayed.end()
            self.stayed, self.unfit = None, self.confinement.anomalies()


@dataclass(slots=True)
class Answered:
    """What has become of a request, which is to be ended at the time `until`.

    `blob` are the results of the first `runs`; `deadly` are statements that ended a child, with
    what came of it. `incidents` are what a human should know of; `unfit` says why this worker can
    go on no longer.
    """

    until: float
    runs: int = 0
    blob: memoryview | None = None
    deadly: dict[int, str] = field(default_factory=dict)
    incidents: list[str] = field(default_factory=list)
    unfit: str | None = None


def answer(parts: Sequence[memoryview], warm: Warm) -> Answered:
    """Run a request in a child, again without the statement it died of where it did.

    The request is read in the child only: what it holds is not to stay in this process, from
    which the next answer's child is forked.

    Raises:
        JudgeGone: nobody waits for the reply any more.
    """
    terms = Terms.read(parts)
    if not terms.continues:
        # Nothing that is asked of one answer is run where another was, whatever the judge forgot.
        warm.end_answer()
    answered = Answered(time.monotonic() + terms.limits.total_seconds, unfit=warm.unfit)
    for _ in range(0 if answered.unfit else MOST_CHILDREN):
        if _ask_child(parts, terms, warm, answered) or answered.unfit:
            break
        if time.monotonic() >= answered.until:
            break
    return answered


def _ask_child(parts: Sequence[memoryview], terms: Terms, warm: Warm, answered: Answered) -> bool:
    """Have a child make the runs; True if it did, or if another would do no better.

    The one that stayed has run this answer before; otherwise another is forked. It stays if the
    request says so, unless it did not get to its end.
    """
    stayed, warm.stayed = warm.stayed, None
    child = stayed or Child(parts, warm, answered)
    current, is_over = None, True
    try:
        if stayed is not None:
            stayed.ask(parts)
        answered.runs, answered.blob = child.listen(terms, answered.until)
        if terms.stays:
            warm.stayed = child
    except (Gone, ValueError) as gone:
        nonsense = "sent back what no gradient can be"
        if isinstance(gone, ValueError):
            answered.incidents.append(f"This answer {nonsense}.")
        current = child.current
        is_over = current is None and stayed is None
        if current is not None and time.monotonic() < answered.until:
            answered.deadly[current] = str(gone) if isinstance(gone, Gone) else nonsense
    finally:
        if warm.stayed is None:
            # A child that was confined can no longer fail to be.
            has_begun = stayed is not None or child.current is not None
            _take_note(child.end(), answered, has_begun)
    return is_over


def answer_here(parts: Sequence[memoryview], values: Mapping[str, Values]) -> Answered:
    """Run a request in this very process, where there is no fork (Windows)."""
    job = Job.unpack(parts)
    results = list(run_job(job, values[job.values].groups))
    return Answered(math.inf, len(results), memoryview(pack_results(results)))


def _take_note(status: int, answered: Answered, has_begun: bool) -> None:
    """Read off a child's end what it would not say."""
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) == getattr(signal, "SIGSYS", None):
        answered.incidents.append("This answer asked the system for what no gradient needs.")
    elif os.WIFEXITED(status) and os.WEXITSTATUS(status) == NOT_CONFINED and not has_begun:
        answered.unfit = "A process for an answer could not be confined as it should be."
    elif os.WIFEXITED(status) and os.WEXITSTATUS(status) == FAILED:
        answered.incidents.append(
            "A process failed outside of this answer's statements: for want of memory, or by a"
            " mistake in the grader."
        )
