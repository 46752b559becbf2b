"""Children: each answer runs in a process of its own, forked from the warm worker."""

from __future__ import annotations

import math
import mmap
import os
import select
import signal
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from io import FileIO

from grader.worker.confinement import NOT_CONFINED, Confinement, refuse_for_good
from grader.worker.frames import frame_head, read_frame
from grader.worker.job import Job, Terms, Values
from grader.worker.listening import (
    CURRENT,
    DONE,
    EVENT,
    FINISHED,
    GRACE_SECONDS,
    Gone,
    Progress,
    current_statement,
    listen,
)
from grader.worker.results import Result, pack_results, parts_of
from grader.worker.run_job import run_job
from grader.worker.scratch import Scratch
from grader.worker.terms import LARGEST_REQUEST

WIDE_PIPE = 2**20
"""Bytes; what Linux gives anybody."""

MOST_PARTS = 1000
"""Pieces of memory that are written at a time; Linux and macOS take 1024."""

FLUSH_SECONDS = 0.25
"""How long a child keeps results to itself: a child that is killed takes them with it."""

MOST_CHILDREN = 8
"""How many processes a request gets: after one has died it is taken up by another."""

FAILED = 114
"""How a child ends that failed outside of the answer's statements."""


@dataclass(frozen=True, slots=True)
class Child:
    """A process for one answer: what it is told to run by, what comes of it, where it has got to.

    `orders` is a pipe for the requests after the first, which it was born with.
    """

    process: int
    orders: int
    results: int
    shared: mmap.mmap

    def end(self) -> int:
        """Kill it with everything it started; how it ended, as `os.waitpid` says it."""
        try:
            os.killpg(self.process, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            # It ended before it could make its group; macOS forbids to kill one that has ended.
            os.kill(self.process, signal.SIGKILL)
        status = os.waitpid(self.process, 0)[1]
        os.close(self.orders)
        os.close(self.results)
        self.shared.close()
        return status


@dataclass(slots=True)
class Warm:
    """What a worker has ready for every request.

    `judge` is the descriptor requests come from: when it hangs up, nobody waits for a reply.
    `stayed` is the child that waits for more of the last request's answer; `unfit` says what the
    last that did so has left behind.
    """

    confinement: Confinement
    scratch: Scratch
    values: Mapping[str, Values]
    judge: int
    stayed: Child | None = None
    unfit: str | None = None

    def end_answer(self) -> None:
        """End the child that stayed: nothing more of its answer is run."""
        if self.stayed is not None:
            self.stayed.end()
            self.stayed, self.unfit = None, self.confinement.anomalies()


def answer(parts: Sequence[memoryview], warm: Warm) -> Progress:
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
    progress = Progress(terms, time.monotonic() + terms.limits.total_seconds, unfit=warm.unfit)
    for _ in range(0 if progress.unfit else MOST_CHILDREN):
        stayed, warm.stayed = warm.stayed, None
        try:
            _run_child(parts, warm, progress, stayed)
        except Gone as gone:
            if progress.unfit or time.monotonic() >= progress.until:
                break
            if progress.current is not None:
                progress.deadly[progress.current] = str(gone)
            elif stayed is None:
                break
        else:
            break
    return progress


def answer_here(parts: Sequence[memoryview], values: Mapping[str, Values]) -> Progress:
    """Run a request in this very process, where there is no fork (Windows)."""
    job = Job.unpack(parts)
    results = list(run_job(job, values[job.values].groups))
    blobs = [(len(results), memoryview(pack_results(results)))]
    return Progress(Terms.read(parts), math.inf, blobs, len(results))


def _run_child(
    parts: Sequence[memoryview], warm: Warm, progress: Progress, stayed: Child | None
) -> None:
    """Have a child make the runs that have no result yet, and listen to it.

    The one that `stayed` has run this answer before; otherwise another is forked. It stays if the
    request says so, unless it did not get to its end.
    """
    progress.current = None
    child = _fork(parts, warm, progress) if stayed is None else stayed
    may_stay = False
    try:
        if stayed is not None:
            _hand_over(parts, child)
        listen(child.results, child.shared, warm.scratch, warm.judge, progress)
        may_stay = progress.terms.stays
    finally:
        if may_stay:
            warm.stayed = child
        else:
            # A child that was confined can no longer fail to be.
            has_begun = stayed is not None or current_statement(child.shared) is not None
            _take_note(child.end(), progress, has_begun)


def _fork(parts: Sequence[memoryview], warm: Warm, progress: Progress) -> Child:
    """Fork a child that makes the runs of a request, then those of others that it is handed."""
    told, orders = os.pipe()
    results, writing = os.pipe()
    _widen(orders)
    _widen(writing)
    # Anonymous and shared: a write to it costs nothing, one to the pipe would wake this process.
    shared = mmap.mmap(-1, CURRENT.size)
    process = os.fork()
    if process == 0:
        status = FAILED
        try:
            limits = progress.terms.limits
            warm.confinement.enter(limits.memory_bytes, limits.total_seconds, told, writing)
            refuse_for_good()
            _serve(parts, warm, progress, writing, shared)
            with FileIO(told) as stream:
                while (more := read_frame(stream, LARGEST_REQUEST)) is not None:
                    _serve(more, warm, Progress(Terms.read(more), math.inf), writing, shared)
            status = 0
        finally:
            os._exit(status)
    os.close(told)
    os.close(writing)
    # One that does not read must not make this process wait.
    os.set_blocking(orders, False)
    return Child(process, orders, results, shared)


def _hand_over(parts: Sequence[memoryview], child: Child) -> None:
    """Give the child that stayed a request; raises `Gone` if it does not take it."""
    # What it ran last must not be blamed for what comes now.
    CURRENT.pack_into(child.shared, 0, 0, 0)
    poll = select.poll()
    poll.register(child.orders, select.POLLOUT)
    until = time.monotonic() + GRACE_SECONDS
    for view in (memoryview(frame_head(parts)), *parts):
        position = 0
        while position < len(view):
            if not poll.poll(max(0.0, until - time.monotonic()) * 1000):
                raise Gone("takes no request")
            try:
                with view[position:] as rest:
                    position += os.write(child.orders, rest)
            except BlockingIOError:
                continue  # less room than the kernel writes at once: `poll` says when there is
            except BrokenPipeError as error:
                raise Gone("takes no request") from error


def _widen(pipe: int) -> None:
    """Let a pipe hold most requests and results: each time it is full, two processes wait."""
    if sys.platform == "linux":
        import fcntl

        # Too many wide pipes, and the kernel allows no more: a narrow one does as well.
        with suppress(OSError):
            fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, WIDE_PIPE)


def _serve(
    parts: Sequence[memoryview], warm: Warm, progress: Progress, pipe: int, shared: mmap.mmap
) -> None:
    """Make the runs of a request, in the child, and send what comes of them."""
    job = Job.unpack(parts)
    groups = warm.values[job.values].groups
    begun = 0

    def started(statement: int) -> None:
        nonlocal begun
        begun += 1
        CURRENT.pack_into(shared, 0, begun, statement)

    deadly, done, sent = progress.deadly, progress.done, progress.sent
    for results in batches(run_job(job, groups, deadly, started, done, sent)):
        done += len(results)
        blob = parts_of(results)
        head = EVENT.pack(FINISHED, done, sum(map(len, blob)))
        _write(pipe, [memoryview(head), *blob])
    os.write(pipe, EVENT.pack(DONE, 0, 0))


def _write(pipe: int, parts: list[memoryview]) -> None:
    """Write bytes one after the other, without a copy of them all."""
    while parts:
        left = os.writev(pipe, parts[:MOST_PARTS])
        while parts and left >= len(parts[0]):
            left -= len(parts.pop(0))
        if left:
            parts[0] = parts[0][left:]


def batches(results: Iterable[Result]) -> Iterator[list[Result]]:
    """Results as they are sent, many at a time."""
    waiting, last = list[Result](), time.monotonic()
    for result in results:
        waiting.append(result)
        if time.monotonic() - last > FLUSH_SECONDS:
            yield waiting
            waiting, last = [], time.monotonic()
    if waiting:
        yield waiting


def _take_note(status: int, progress: Progress, has_begun: bool) -> None:
    """Read off a child's end what it would not say."""
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) == getattr(signal, "SIGSYS", None):
        progress.incidents.append("This answer asked the system for what no gradient needs.")
    elif os.WIFEXITED(status) and os.WEXITSTATUS(status) == NOT_CONFINED and not has_begun:
        progress.unfit = "A process for an answer could not be confined as it should be."
    elif os.WIFEXITED(status) and os.WEXITSTATUS(status) == FAILED:
        progress.incidents.append(
            "A process failed outside of this answer's statements: for want of memory, or by a"
            " mistake in the grader."
        )
