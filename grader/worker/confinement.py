"""Confinement: what keeps a student's process from everything but its own answer."""

from __future__ import annotations

import cProfile
import ctypes
import gc
import math
import multiprocessing.connection
import multiprocessing.process
import multiprocessing.synchronize
import os
import profile
import random
import signal
import struct
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from grader.worker.system_calls import filter_program
from grader.worker.terms import LINUX, NO_THREADS

with suppress(ImportError):  # Windows has none
    import resource

NOT_CONFINED = 113
"""How a child ends that could not be confined as promised: no statement has run in it."""

MOST_OPEN_FILES = 64
LARGEST_STACK = 8 * 2**20

LIMITS = {"CORE": 0, "FSIZE": 0, "NOFILE": MOST_OPEN_FILES, "STACK": LARGEST_STACK}
if LINUX:
    LIMITS |= {"NPROC": 0, "MEMLOCK": 0, "MSGQUEUE": 0, "SIGPENDING": 64}
"""What the system lets each answer have of some things, beside time and memory."""

DRAWING = ("rich.", "tqdm.")
"""Packages whose threads only draw how far a loop is."""

NOWHERE = "/proc" if LINUX else "/"
"""A folder in which nobody can make a file, not even root."""

HIGHEST_DESCRIPTOR = 4096
"""Far above any file descriptor that the worker opens."""

DEATH_SIGNAL, DUMPABLE, SECCOMP, NO_NEW_PRIVILEGES = 1, 4, 22, 38
"""PR_SET_...: what `prctl` sets."""

SECCOMP_FILTER = 2

Call = Callable[[], int]


@dataclass(frozen=True, slots=True)
class Confinement:
    """What confines the children of this process, tried once and then applied to each.

    `calls` are what a child asks of the kernel, beside its limits, and last of all the filter of
    `system_calls`. A child that is refused one of them ends with `NOT_CONFINED`.
    """

    calls: tuple[Call, ...] = ()
    system_calls: Call | None = None
    statm: int | None = None

    @classmethod
    def prepare(cls) -> Confinement:
        """Make this process, warm by now, one that forks confined children; call it last.

        On Linux all that the kernel allows is active; elsewhere only the limits of resources.
        """
        if (torch := sys.modules.get("torch")) is not None:
            # It looks at the processor when it first computes. A child sees neither /proc nor /sys:
            # it would go on with instructions that every processor has, slowly, and with other
            # rounding than the judge.
            torch.backends.cpu.get_cpu_capability()
        refuse_threads()
        # A child that collected garbage would touch, and so copy, all that was imported.
        gc.collect()
        gc.freeze()
        if not LINUX:
            return cls()
        statm = os.open("/proc/self/statm", os.O_RDONLY | os.O_CLOEXEC)
        # Its children inherit these two.
        for call in (control(NO_NEW_PRIVILEGES, 1), control(DUMPABLE, 0)):
            _make(call)
        ready = cls((control(DEATH_SIGNAL, signal.SIGKILL),), None, statm)
        if (program := filter_program()) is not None:
            filtered = replace(ready, system_calls=system_call_filter(program))
            ready = filtered if _works(filtered) else ready
        return ready

    def enter(self, memory_bytes: int, cpu_seconds: float, *keep: int) -> None:
        """Confine this child for good, before it runs anything of a student's.

        Args:
            memory_bytes: of address space, beyond what it was born with.
            cpu_seconds: of processor time, rounded up.
            keep: the descriptors that stay open, beside standard input, output and error.

        Where a promised layer fails the process ends, with `NOT_CONFINED`.
        """
        try:
            # A group of its own, so that whatever the student's code starts ends with it. Not a
            # session: the kernel schedules each apart, and takes 2 ms to begin on a busy machine.
            os.setpgid(0, 0)
            # What PyTorch itself writes, as `torch.save` does, would empty the student's own file.
            os.chdir(NOWHERE)
            limits = LIMITS | {"CPU": max(1, math.ceil(cpu_seconds))}
            if self.statm is not None:
                # The descriptor is of the process it was forked from, as large as this one.
                pages = int(os.pread(self.statm, 32, 0).split()[0])
                limits["AS"] = pages * resource.getpagesize() + memory_bytes
            _limit(limits)
            # The judge's own pipes too: what an answer wrote there would be the next one's reply.
            kept = sorted(keep)
            for before, after in zip([2, *kept], [*kept, HIGHEST_DESCRIPTOR], strict=True):
                os.closerange(before + 1, after)
            random.seed(0)  # a fork draws another
            for call in (*self.calls, *filter(None, [self.system_calls])):
                _make(call)
        except BaseException:
            os._exit(NOT_CONFINED)


def refuse_threads() -> None:
    """Let whatever needs another thread or process, or looks into all functions, say so."""
    owners: list[tuple[Any, str]] = [
        (threading.Thread, "start"),
        (multiprocessing.process.BaseProcess, "start"),
        # What pools of processes, and queues between them, begin with.
        (multiprocessing.connection, "Pipe"),
        (multiprocessing.synchronize.SemLock, "__init__"),
        *((profiler.Profile, "__init__") for profiler in (cProfile, profile)),
    ]
    if (torch := sys.modules.get("torch")) is not None:
        profilers = torch.profiler.profile, torch.autograd.profiler.profile
        owners += [(profiler, "__init__") for profiler in profilers]
        # Torch 2.11 would wait without end for threads that it could not start.
        vars(torch)["set_num_threads"] = lambda _: None
    for owner, name in owners:
        setattr(owner, name, _refuse_thread)


def _refuse_thread(*arguments: Any, **_: object) -> None:
    module = type(arguments[0]).__module__ if arguments else ""
    if not module.startswith(DRAWING):
        raise OSError(NO_THREADS)
    arguments[0].join = lambda *_: None  # nothing is drawn, and nobody waits for it


def _limit(limits: Mapping[str, int]) -> None:
    """Set limits of resources, none higher than it is."""
    for name, wanted in limits.items():
        kind = getattr(resource, f"RLIMIT_{name}")
        _, highest = resource.getrlimit(kind)
        limit = wanted if highest == resource.RLIM_INFINITY else min(wanted, highest)
        resource.setrlimit(kind, (limit, limit))


def control(option: int, *values: int) -> Call:
    """`prctl`, made ready here: in a child, `ctypes` would need pages of its own for that."""
    numbers = [*values, 0, 0, 0, 0][:4]
    return partial(ctypes.CDLL(None).prctl, ctypes.c_int(option), *map(ctypes.c_ulong, numbers))


def system_call_filter(program: bytes) -> Call:
    """The call that has the kernel run a BPF program before each system call from now on."""
    instructions = ctypes.create_string_buffer(program)
    array = struct.pack("HP", len(program) // 8, ctypes.addressof(instructions))
    held = ctypes.create_string_buffer(array)
    call = control(SECCOMP, SECCOMP_FILTER, ctypes.addressof(held))
    # The kernel is told only where they lie.
    return lambda kept=(instructions, held): call()  # type: ignore[misc]


def _make(call: Call) -> None:
    if call() < 0:
        raise OSError("the kernel does not let itself be asked for this")


def _works(confinement: Confinement) -> bool:
    """Try it in a child that does nothing but enter."""
    keep = os.open(os.devnull, os.O_RDWR)
    try:
        child = os.fork()
        if child == 0:
            confinement.enter(2**30, 10.0, keep)
            os._exit(0)
        return os.waitpid(child, 0)[1] == 0
    finally:
        os.close(keep)


DENIED = frozenset(
    {"ctypes.dlopen", "ctypes.dlsym", "ctypes.dlsym/handle", "ctypes.call_function"}
    | {"ctypes.cdata", "ctypes.cdata/buffer", "ctypes.addressof", "ctypes.string_at"}
    | {"ctypes.wstring_at", "ctypes.PyObj_FromPtr", "ctypes.get_errno", "ctypes.set_errno"}
    | {"gc.get_objects", "gc.get_referrers", "gc.get_referents"}
    | {"code.__new__", "sys.addaudithook", "sys.settrace", "sys.setprofile"}
)
"""Foreign functions and memory, walks over other people's objects, code made by hand.

With the first an answer could call PyTorch's derivatives in C++, past all that is switched off.
"""

CODE_ATTRIBUTE = "__code__"

WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
"""Flags for a file that is to be written; with a limit of 0 bytes it would be emptied."""

OWN_MEMORY = "mem"
"""So ends the path of the file in /proc through which a process writes to its own memory."""


def refuse_for_good() -> None:
    """Let what no gradient needs raise PermissionError, in this process and until it ends.

    A hook cannot be removed, and this one is in no object that Python could find: it reads no
    global name, and its function is kept by the interpreter alone.
    """
    denied, attribute, memory = DENIED, CODE_ATTRIBUTE, OWN_MEMORY
    writing, nowhere = WRITING, os.devnull

    def hook(event: str, arguments: tuple[object, ...]) -> None:
        if event in denied:
            raise PermissionError(f"answers have no use for {event}")
        if event == "open" and str(arguments[0]).endswith(memory):
            raise PermissionError("answers have no use for their process's memory")
        flags = arguments[2] if event == "open" else 0
        if isinstance(flags, int) and flags & writing and arguments[0] != nowhere:
            raise PermissionError(f"answers write no files: {arguments[0]!r}")
        if event == "object.__setattr__" and arguments[1] == attribute:
            raise PermissionError("answers have no use for another function's code")

    sys.addaudithook(hook)
