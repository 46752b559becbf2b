"""Namespaces of the worker: what it and its children see of processes, network and files."""

from __future__ import annotations

import os
import signal
import sys
from dataclasses import dataclass
from pathlib import Path

from grader.worker.kernel import (
    DEATH_SIGNAL,
    NEW_IPC,
    NEW_MOUNTS,
    NEW_NETWORK,
    NEW_PIDS,
    NEW_USER,
    NEW_UTS,
    Kernel,
)

WORKER_KINDS = NEW_USER | NEW_PIDS | NEW_MOUNTS | NEW_IPC | NEW_NETWORK | NEW_UTS
"""What the worker gets anew, once for all its answers.

Of these an answer gets only its own process namespace. The others would add 0.5 ms to each and
nothing to its isolation: answers of one worker never run at the same time, no answer can write,
listen or leave shared memory, and none has a capability over the worker's namespaces.
"""

HIGHEST_DESCRIPTOR = 4096
"""Far above any file descriptor that the worker opens."""


@dataclass(frozen=True, slots=True)
class Namespaces:
    """The namespaces this process has been put into by `launch`.

    `processes` is a descriptor of its own process namespace, the way back from `unshare`.
    """

    processes: int

    def fork(self, kernel: Kernel) -> int:
        """Fork a child that is number 1 of a process namespace of its own.

        The child sees no process but itself, and all it starts ends with it.
        """
        kernel.unshare(NEW_PIDS)
        child = os.fork()
        if child:
            # Where the next child would go otherwise: the namespace of this one. Going back to
            # one's own is what lets `unshare` be called again.
            kernel.enter_namespace(self.processes, NEW_PIDS)
        return child


def launch() -> Namespaces | None:
    """Go on in a process of its own namespaces; call it before anything starts a thread.

    Returns in that process, number 1 of its process namespace; the one that called waits for it
    and ends as it ends. Returns None, in the caller, where the kernel does not allow it.
    """
    if not sys.platform.startswith("linux") or not _allowed():
        return None
    kernel = Kernel()
    _enter(kernel)
    # When the judge is killed, this process is, and with it the one that goes on.
    kernel.control(DEATH_SIGNAL, signal.SIGKILL)
    if worker := os.fork():
        _wait_and_end_like(worker)
    kernel.control(DEATH_SIGNAL, signal.SIGKILL)
    return Namespaces(_own_processes())


def _enter(kernel: Kernel) -> None:
    user, group = os.getuid(), os.getgid()
    kernel.unshare(WORKER_KINDS)
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
    Path("/proc/self/gid_map").write_text(f"{group} {group} 1")
    kernel.make_mounts_private()


def _own_processes() -> int:
    return os.open("/proc/self/ns/pid", os.O_RDONLY | os.O_CLOEXEC)


def _allowed() -> bool:
    """Try it in a child: half of it done would be worse than nothing."""
    child = os.fork()
    if child == 0:
        try:
            _try_all()
        except BaseException:
            os._exit(1)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def _try_all() -> None:
    kernel = Kernel()
    _enter(kernel)
    if worker := os.fork():
        os._exit(os.waitstatus_to_exitcode(os.waitpid(worker, 0)[1]) & 0xFF)
    namespaces = Namespaces(_own_processes())
    # Twice: the second time shows that the way back works.
    for _ in range(2):
        child = namespaces.fork(kernel)
        if child == 0:
            os._exit(0 if os.getpid() == 1 else 1)
        if os.waitpid(child, 0)[1]:
            os._exit(1)


def _wait_and_end_like(worker: int) -> None:
    # The pipes to the judge are the worker's alone, or it would not see that they are closed.
    os.closerange(0, HIGHEST_DESCRIPTOR)
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    code = os.waitstatus_to_exitcode(os.waitpid(worker, 0)[1])
    os._exit(code if code >= 0 else 128 - code)
