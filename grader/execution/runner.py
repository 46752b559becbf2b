"""The runner starts a worker process, hands it requests, and survives whatever happens to it."""

from __future__ import annotations

import marshal
import subprocess
import sys
import threading
from contextlib import suppress
from io import FileIO
from typing import TYPE_CHECKING, Protocol, Self, cast

from grader.execution.sandbox import Sandbox, sandboxed, worker_environment, worker_root
from grader.verdict import Reason, because
from grader.worker.frames import Reply, read_frame, write_frame
from grader.worker.terms import MOST_VALUES, Limits

if TYPE_CHECKING:
    from grader.worker.job import Job, Values

LARGEST_REPLY = 2**27
"""The most bytes of a worker's reply."""

PATIENCE_SECONDS, WARM_PATIENCE_SECONDS = 30.0, 10.0
"""How much longer than a request's own limit the runner waits, at first for torch's import."""

NEVER_STARTED = (
    "The process that runs answers, in bwrap, ended before it answered anything. If that happens to"
    " every notebook, Python or PyTorch does not start there; `--sandbox none` runs answers without"
    " bwrap, with all that you may do yourself."
)

ENDED = (
    "The process that runs answers ended before it was done; what it ran last either ended it or"
    " needed more time or memory than there is."
)

BOOTSTRAP = (
    "import sys; sys.path.insert(0, sys.argv[1]); from grader.worker.main import main; main()"
)
"""Code that starts the worker from this copy of the package, whether or not it is installed."""


class WorkerLost(Exception):
    """The worker ended or was killed before it replied; the message is a sentence."""


class AnyRunner(Protocol):
    """Something that makes the runs of requests."""

    limits: Limits
    unbound: Reason
    """The explanation of a name that is not defined and resembles no other."""
    slowness: int
    """The factor by which fewer edits are tried of statements that loop."""

    def run(self, job: Job, values: Values) -> Reply:
        """Make the runs of a request on these values, or raise `WorkerLost`."""

    def end_answer(self) -> None:
        """Note that no more requests come from the answer of the last one."""


class Runner:
    """A warm worker behind two pipes.

    The constructor starts the worker, which imports torch while the caller does other things. Use
    a runner as a context manager, or call `close`. Keep it in one thread, because with bwrap the
    worker dies with the thread that started it. `worker` is the current process, and `lost` becomes
    True when one is lost, until it is set back.

    Raises:
        NoSandbox: this sandbox is not available here.
    """

    unbound = because("unbound")
    slowness = 3

    def __init__(self, limits: Limits | None = None, sandbox: Sandbox = Sandbox.NONE) -> None:
        self.limits = limits or Limits()
        self.sandbox = sandbox
        self.lost = False
        self._start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _start(self) -> None:
        self.worker = start_worker(self.sandbox)
        self._known: list[str] = []
        self._has_replied = False

    def close(self) -> None:
        """End the worker."""
        self.worker.kill()
        for stream in filter(None, (self.worker.stdin, self.worker.stdout)):
            # The worker may be gone with a request half written: nothing is left to flush.
            with suppress(BrokenPipeError):
                stream.close()
        self.worker.wait()

    def run(self, job: Job, values: Values) -> Reply:
        """Hand a request to the worker, preceded by its values if the worker does not have them.

        Raises:
            WorkerLost: there was no reply. The next request starts another worker.
        """
        if self.worker.poll() is not None:
            self._restart()
        patience = WARM_PATIENCE_SECONDS if self._has_replied else PATIENCE_SECONDS
        seconds = min(self.limits.total_seconds, job.limits.total_seconds)
        late = threading.Timer(seconds + patience, self.worker.kill)
        late.daemon = True
        late.start()
        try:
            return self._ask(job, values)
        except (OSError, ValueError, TypeError) as error:
            never_started = not self._has_replied and self.sandbox is Sandbox.BWRAP
            self.lost = True
            self._restart()
            raise WorkerLost(NEVER_STARTED if never_started else ENDED) from error
        except BaseException:
            # Interrupted: the reply, when it comes, would be taken for the next request's.
            self._restart()
            raise
        finally:
            late.cancel()

    def end_answer(self) -> None:
        """Let the worker end the process that is waiting for more of the same answer."""
        # A worker that is gone has no such process; the next request starts another.
        with suppress(BrokenPipeError):
            write_frame(cast(FileIO, self.worker.stdin).write, marshal.dumps(("end",)))

    def _ask(self, job: Job, values: Values) -> Reply:
        # Unbuffered, so they are raw files; the types know only that they are streams.
        requests, replies = cast(FileIO, self.worker.stdin), cast(FileIO, self.worker.stdout)
        if values.key not in self._known:
            write_frame(requests.write, *values.pack())
            self._known = [*self._known, values.key][-MOST_VALUES:]
        write_frame(requests.write, *job.pack())
        frame = read_frame(replies.readinto, LARGEST_REPLY)
        if frame is None:
            raise ValueError("the stream ended")
        reply = Reply.unpack(*frame)
        self._has_replied = True
        return reply

    def _restart(self) -> None:
        self.close()
        self._start()


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
