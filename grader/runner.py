"""The runner: starts a worker process, hands it requests, outlives whatever happens to it."""

from __future__ import annotations

import json
import struct
import subprocess
import sys
import threading
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, Self

LENGTH = struct.Struct("<Q")

LARGEST_REPLY = 2**30
"""Bytes a worker may answer with; more is not a reply."""

PATIENCE_SECONDS = 30.0
"""How much longer than a request's own limit the runner waits: for torch's import, above all."""

BOOTSTRAP = "import sys; sys.path.insert(0, sys.argv[1]); from grader.worker import main; main()"
"""Starts the worker from this very copy of the package, installed or not."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What an answer may use: seconds for a statement and for all, bytes of memory."""

    statement_seconds: float = 10.0
    total_seconds: float = 60.0
    memory_bytes: int = 2 * 2**30


class WorkerLost(Exception):
    """The worker ended or was killed before it replied; the message is a sentence."""


class Runner:
    """A warm worker behind two pipes.

    The worker is started by the constructor and imports torch while the caller does other
    things. Use as a context manager, or call `close`.
    """

    def __init__(self, limits: Limits | None = None) -> None:
        self.limits = limits or Limits()
        self._worker = _start_worker()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the worker."""
        self._worker.kill()
        for stream in (self._worker.stdin, self._worker.stdout):
            if stream is not None:
                # The worker may be gone with a request half written: nothing is left to flush.
                try:
                    stream.close()
                except BrokenPipeError:
                    continue
        self._worker.wait()

    def run(self, payload: bytes) -> dict[int, bytes]:
        """Hand a packed request to the worker.

        Returns:
            The result of each run by its number, a safetensors blob; runs may be missing.

        Raises:
            WorkerLost: no reply came; another worker is started for the next request.
        """
        if self._worker.poll() is not None:
            self._restart()
        seconds = self.limits.total_seconds + PATIENCE_SECONDS
        deadline = threading.Timer(seconds, self._worker.kill)
        deadline.daemon = True
        deadline.start()
        try:
            assert self._worker.stdin is not None
            assert self._worker.stdout is not None
            self._worker.stdin.write(LENGTH.pack(len(payload)) + payload)
            self._worker.stdin.flush()
            return _read_reply(self._worker.stdout)
        except (OSError, ValueError, KeyError, TypeError, struct.error) as error:
            self._restart()
            raise WorkerLost(
                "The process that runs answers ended before it was done; what it ran last either"
                " ended it or needed more time or memory than there is."
            ) from error
        except BaseException:
            # Interrupted: the reply, when it comes, would be taken for the next request's.
            self._restart()
            raise
        finally:
            deadline.cancel()

    def _restart(self) -> None:
        self.close()
        self._worker = _start_worker()


def _start_worker() -> subprocess.Popen[bytes]:
    root = Path(__file__).resolve().parent.parent
    return subprocess.Popen(
        # -P: the current folder, full of students' files, is no place to import from.
        [sys.executable, "-P", "-c", BOOTSTRAP, str(root)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        # A notebook's stop button interrupts the kernel's whole group: the worker is not meant.
        start_new_session=True,
    )


def _read_reply(stream: IO[bytes]) -> dict[int, bytes]:
    """Read one reply.

    Raises:
        ValueError: it ends early, or is not one.
    """
    (length,) = LENGTH.unpack(_read(stream, LENGTH.size))
    if length > LARGEST_REPLY:
        raise ValueError(f"a reply of {length} bytes")
    body = _read(stream, length)
    (header_length,) = LENGTH.unpack(body[: LENGTH.size])
    position = LENGTH.size + header_length
    header = json.loads(body[LENGTH.size : position])
    results = {}
    for run, size in header["runs"]:
        results[int(run)] = body[position : position + size]
        position += size
    return results


def _read(stream: IO[bytes], length: int) -> bytes:
    data = stream.read(length)
    if len(data) < length:
        raise ValueError("the stream ended")
    return data
