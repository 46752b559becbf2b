"""The runner: starts a worker process, hands it requests, outlives whatever happens to it."""

from __future__ import annotations

import json
import math
import struct
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from io import FileIO
from typing import TYPE_CHECKING, Protocol, Self, cast

from grader.execution.sandbox import Sandbox, sandboxed, worker_environment, worker_root
from grader.verdict import Reason, because
from grader.worker.frames import read_frame, write_frame
from grader.worker.terms import MOST_VALUES, Limits

if TYPE_CHECKING:
    from grader.worker.job import Job, Values

LARGEST_REPLY = 2**27
"""Bytes a worker may answer with; more is not a reply."""

PATIENCE_SECONDS, WARM_PATIENCE_SECONDS = 30.0, 10.0
"""How much longer than a request's own limit the runner waits: at first for torch's import."""

NEVER_STARTED = (
    "The process that runs answers, in bwrap, ended before it answered anything. If that happens to"
    " every notebook, Python or PyTorch does not start there; `--sandbox none` runs answers without"
    " bwrap, with all that you may do yourself."
)

MOST_ANSWERS = 5000
"""Requests after which a worker is replaced, whatever it looks like."""

BOOTSTRAP = (
    "import sys; sys.path.insert(0, sys.argv[1]); from grader.worker.main import main; main()"
)
"""Starts the worker from this very copy of the package, installed or not."""


class WorkerLost(Exception):
    """The worker ended or was killed before it replied; the message is a sentence."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What came of a request.

    `blob` are the results of the first `runs` (see `grader.worker.results`); some may be missing.
    `deadly` are the statements that ended or hung
    the process they ran in, with what came of it. `incidents` are sentences for a human.
    """

    runs: int = 0
    blob: bytes | memoryview = b""
    deadly: Mapping[int, str] = field(default_factory=dict)
    incidents: tuple[str, ...] = ()


class _Unfit(ValueError):
    """The worker cannot go on, and has run nothing; another may be asked."""


class AnyRunner(Protocol):
    """What requests are handed to."""

    limits: Limits
    unbound: Reason
    """What is said of a name that nothing has bound and that is like no other."""

    def run(self, job: Job, values: Values) -> Reply:
        """Make the runs of a request on these values; `WorkerLost` if that cannot be."""

    def end_answer(self) -> None:
        """No more requests come of the answer that the last was about."""


class Runner:
    """A warm worker behind two pipes.

    The worker is started by the constructor and imports torch while the caller does other
    things. Use as a context manager, or call `close`. With bwrap the worker dies with the thread
    that started it: keep a runner in one thread. `worker` is the process of the moment; `lost`
    becomes True when one was lost, until it is set back.

    Raises:
        NoSandbox: there is no such sandbox here.
    """

    unbound = because("unbound")

    def __init__(self, limits: Limits | None = None, sandbox: Sandbox = Sandbox.NONE) -> None:
        self.limits = limits or Limits()
        self.sandbox = sandbox
        self.lost = False
        self.worker = start_worker(sandbox)
        self._known: list[str] = []
        self._left = MOST_ANSWERS
        self._stays = False
        self._deadline = _Deadline(weakref.WeakMethod(self._kill))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the worker."""
        self._deadline.end()
        self._end_worker()

    def _kill(self) -> None:
        # Whichever worker it is by then: an unfit one is replaced while its request waits.
        self.worker.kill()

    def _end_worker(self) -> None:
        self.worker.kill()
        for stream in filter(None, (self.worker.stdin, self.worker.stdout)):
            # The worker may be gone with a request half written: nothing is left to flush.
            with suppress(BrokenPipeError):
                stream.close()
        self.worker.wait()

    def run(self, job: Job, values: Values) -> Reply:
        """Hand a request to the worker, after the values it runs on if these are new to it.

        Raises:
            WorkerLost: no reply came; another worker is started for the next request.
        """
        if self.worker.poll() is not None or self._left <= 0:
            self._restart()
        is_new = self._left == MOST_ANSWERS
        patience = PATIENCE_SECONDS if is_new else WARM_PATIENCE_SECONDS
        seconds = min(self.limits.total_seconds, job.limits.total_seconds)
        self._deadline.begin(seconds + patience)
        try:
            try:
                return self._ask(job, values)
            except _Unfit:
                self._restart()
                return self._ask(job, values)
        except (OSError, ValueError, LookupError, TypeError, AttributeError, struct.error) as error:
            never_answered = self._left == MOST_ANSWERS
            self.lost = True
            self._restart()
            raise WorkerLost(
                NEVER_STARTED
                if never_answered and self.sandbox is Sandbox.BWRAP
                else "The process that runs answers ended before it was done; what it ran last"
                " either ended it or needed more time or memory than there is."
            ) from error
        except BaseException:
            # Interrupted: the reply, when it comes, would be taken for the next request's.
            self._restart()
            raise
        finally:
            self._deadline.until = math.inf

    def end_answer(self) -> None:
        """Have the process ended that has stayed for more of the same answer."""
        if self._stays:
            self._stays = False
            # A worker that is gone has no such process; the next request starts another.
            with suppress(BrokenPipeError):
                write_frame(cast(FileIO, self.worker.stdin).write, [b"end"])

    def _ask(self, job: Job, values: Values) -> Reply:
        # Unbuffered, so they are raw files; the types know only that they are streams.
        requests, replies = cast(FileIO, self.worker.stdin), cast(FileIO, self.worker.stdout)
        if values.key not in self._known:
            write_frame(requests.write, values.pack())
            self._known = [*self._known, values.key][-MOST_VALUES:]
        write_frame(requests.write, job.pack())
        self._stays = job.stays
        parts = read_frame(replies.readinto, LARGEST_REPLY)
        if parts is None:
            raise ValueError("the stream ended")
        head = json.loads(bytes(parts[0]))
        self._left -= 1
        if head["unfit"] is not None:
            self._left = 0
            if not head["runs"]:
                raise _Unfit(str(head["unfit"]))
        deadly = {int(number): str(how) for number, how in head["deadly"].items()}
        incidents = [str(incident) for incident in (*head["incidents"], head["unfit"]) if incident]
        return Reply(int(head["runs"]), parts[1], deadly, tuple(incidents))

    def _restart(self) -> None:
        self._end_worker()
        self.worker = start_worker(self.sandbox)
        self._known = []
        self._left = MOST_ANSWERS
        self._stays = False


class _Deadline:
    """Calls a method when a request takes longer than it may, from one thread for all requests.

    To start a thread for each, as `threading.Timer` does, takes milliseconds on a busy machine.
    It sleeps until the earliest moment at which it could have to call.
    """

    def __init__(self, late: weakref.WeakMethod[Callable[[], None]]) -> None:
        self.until = math.inf
        self._late = late
        self._pause = math.inf
        self._ended = threading.Event()

    def begin(self, seconds: float) -> None:
        """From now on a request has so many seconds, until `until` is infinity again."""
        self.until = time.monotonic() + seconds
        # A shorter one than any before must not be slept through.
        if seconds < self._pause:
            self.end()
            self._pause, self._ended = seconds, threading.Event()
            threading.Thread(target=self._wait, args=(self._ended,), daemon=True).start()

    def end(self) -> None:
        """Call no more."""
        self._pause = math.inf
        self._ended.set()

    def _wait(self, ended: threading.Event) -> None:
        pause = self._pause
        while not ended.wait(pause):
            left = self.until - time.monotonic()
            if left <= 0 and (late := self._late()) is not None:
                late()
            pause = left if 0 < left < self._pause else self._pause


def start_worker(sandbox: Sandbox) -> subprocess.Popen[bytes]:
    """Start the process that runs answers; it waits for frames on its standard input."""
    # -P: the current folder, full of students' files, is no place to import from.
    command = [sys.executable, "-P", "-c", BOOTSTRAP, str(worker_root(sandbox))]
    return subprocess.Popen(
        sandboxed(command, sandbox),
        env=worker_environment(sandbox),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        bufsize=0,
        # A notebook's stop button interrupts the kernel's whole group: the worker is not meant.
        start_new_session=True,
    )
