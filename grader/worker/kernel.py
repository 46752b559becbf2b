"""Calls of the Linux kernel that Python's `os` has no function for."""

from __future__ import annotations

import ctypes
import mmap
import os
import struct
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

NEW_MOUNTS = 0x00020000
NEW_UTS = 0x04000000
NEW_IPC = 0x08000000
NEW_USER = 0x10000000
NEW_PIDS = 0x20000000
NEW_NETWORK = 0x40000000
"""CLONE_NEW...: the kinds of namespaces."""

DEATH_SIGNAL, DUMPABLE, SECCOMP, NO_NEW_PRIVILEGES = 1, 4, 22, 38
"""PR_SET_...: what `control` sets."""

SECCOMP_FILTER = 2
CAPABILITY_VERSION = 0x20080522
SYS_ADMIN = 1 << 21

MOUNT_NOSUID, MOUNT_NODEV, MOUNT_NOEXEC, MOUNT_READ_ONLY = 2, 4, 8, 1
MOUNT_RECURSIVE, MOUNT_PRIVATE = 1 << 14, 1 << 18
MOUNT_SETATTR, LANDLOCK_CREATE, LANDLOCK_ADD, LANDLOCK_RESTRICT = 442, 444, 445, 446
"""Numbers of system calls that C libraries have no function for; the same on all machines."""
HERE, RECURSIVE = -100, 0x8000
"""AT_FDCWD, AT_RECURSIVE."""

COLLAPSE = 25
HUGE_PAGE = 2**21

ASK_VERSION, PATH_BENEATH = 1, 1
"""LANDLOCK_CREATE_RULESET_VERSION, LANDLOCK_RULE_PATH_BENEATH."""


class Kernel:
    """The C library's functions; each raises an OSError that names the call it failed in."""

    def __init__(self) -> None:
        self._library = ctypes.CDLL(None, use_errno=True)
        self._kept: list[object] = []

    def _call(self, name: str, *arguments: object) -> int:
        return _checked(getattr(self._library, name), *arguments)

    def _call_number(self, number: int, *arguments: object) -> int:
        # A long each: a C function with open-ended arguments takes them from whole registers.
        wide = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
        return self._call("syscall", ctypes.c_long(number), *wide)

    def unshare(self, kinds: int) -> None:
        """Leave the namespaces of these kinds for new ones (of pids: the children will)."""
        self._call("unshare", ctypes.c_int(kinds))

    def enter_namespace(self, descriptor: int, kind: int) -> None:
        """Go to the namespace a descriptor of /proc/PID/ns stands for (of pids: the children)."""
        self._call("setns", ctypes.c_int(descriptor), ctypes.c_int(kind))

    def control(self, option: int, value: int, *more: int) -> None:
        """`prctl`."""
        numbers = [*(value, *more), 0, 0, 0, 0][:4]
        self._call("prctl", ctypes.c_int(option), *map(ctypes.c_ulong, numbers))

    def keep_capabilities(self, kept: int) -> None:
        """Give up all capabilities but those of a bit mask; none of them can be had back."""
        # The version and this process; effective, permitted and inherited, of each half 32.
        header = struct.pack("Ii", CAPABILITY_VERSION, 0)
        self._call("capset", header, struct.pack("6I", kept, kept, 0, 0, 0, 0))

    def make_mounts_private(self) -> None:
        """Let no mount of this namespace be seen in another."""
        flags = ctypes.c_ulong(MOUNT_RECURSIVE | MOUNT_PRIVATE)
        self._call("mount", b"none", b"/", None, flags, None)

    def make_files_read_only(self) -> None:
        """Make every mount of this namespace read-only (Linux 5.12 and later)."""
        # What is set, what is cleared, propagation, user namespace.
        wanted = struct.pack("4Q", MOUNT_READ_ONLY, 0, 0, 0)
        self._call_number(MOUNT_SETATTR, HERE, b"/", RECURSIVE, wanted, len(wanted))

    def cover(self, folder: str) -> None:
        """Put an empty folder that cannot be written over a folder."""
        flags = MOUNT_READ_ONLY | MOUNT_NOSUID | MOUNT_NODEV | MOUNT_NOEXEC
        self._call("mount", b"empty", folder.encode(), b"tmpfs", ctypes.c_ulong(flags), b"size=4k")

    def filter_system_calls(self, program: bytes) -> None:
        """Let a BPF program decide about each system call from now on, for good."""
        instructions = ctypes.create_string_buffer(program)
        array = ctypes.create_string_buffer(
            struct.pack("HP", len(program) // 8, ctypes.addressof(instructions))
        )
        # The kernel is told only where they lie.
        self._kept += [instructions, array]
        self.control(SECCOMP, SECCOMP_FILTER, ctypes.addressof(array))

    def landlock_version(self) -> int:
        """The version of Landlock that the kernel has."""
        return self._call_number(LANDLOCK_CREATE, None, 0, ASK_VERSION)

    def landlock_rules(self, files: int, network: int, scoped: int) -> int:
        """A descriptor of rules that take these rights away."""
        rules = struct.pack("3Q", files, network, scoped)
        return self._call_number(LANDLOCK_CREATE, rules, len(rules), 0)

    def landlock_allow(self, rules: int, folder: int, rights: int) -> None:
        """Give rights back for what is below a folder, or for a file."""
        path = struct.pack("=Qi", rights, folder)
        self._call_number(LANDLOCK_ADD, rules, PATH_BENEATH, path, 0)

    def landlock_restrict(self, rules: int) -> None:
        """Keep to the rules from now on, for good."""
        self._call_number(LANDLOCK_RESTRICT, rules, 0)

    def collapse(self, start: int, length: int) -> None:
        """Put memory that is in use on huge pages now (Linux 6.1 and later)."""
        self._call(
            "madvise", ctypes.c_void_p(start), ctypes.c_size_t(length), ctypes.c_int(COLLAPSE)
        )


class KernelLater(Kernel):
    """Makes calls ready instead of making them: `make` does, as often as it is asked to.

    A child that made them ready would need pages of its own for that: `ctypes` makes a type for
    each length of an array.
    """

    def __init__(self) -> None:
        super().__init__()
        self._calls: list[tuple[Callable[..., Any], tuple[object, ...]]] = []

    def _call(self, name: str, *arguments: object) -> int:
        self._calls.append((getattr(self._library, name), arguments))
        return 0

    def make(self) -> None:
        """Make the calls that were asked for, in order."""
        for function, arguments in self._calls:
            _checked(function, *arguments)


def _checked(function: Any, *arguments: object) -> int:
    result = int(function(*arguments))
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{function.__name__}: {os.strerror(number)}")
    return result


def put_memory_on_huge_pages(kernel: Kernel) -> None:
    """Collapse this process's own memory, where there is some to collapse.

    A fork copies an entry for every page, and an exit drops them: of the 6 ms these take in a
    process with torch, 3 go with 36,000 small pages.
    """
    if mmap.PAGESIZE != 4096:
        return
    for line in Path("/proc/self/maps").read_text().splitlines():
        bounds, access, _, _, inode, *name = line.split(maxsplit=5)
        if access != "rw-p" or inode != "0" or name not in ([], ["[heap]"]):
            continue
        first, last = (int(bound, 16) for bound in bounds.split("-"))
        start, end = -(-first // HUGE_PAGE) * HUGE_PAGE, last // HUGE_PAGE * HUGE_PAGE
        # An old kernel, no huge page left, or a region that is not in use: small pages do as well.
        with suppress(OSError):
            if start < end:
                kernel.collapse(start, end - start)
