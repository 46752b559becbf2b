"""Calls of the Linux kernel that Python's `os` has no function for."""

from __future__ import annotations

import ctypes
import os
import struct
from collections.abc import Callable
from typing import Any

DEATH_SIGNAL, DUMPABLE, SECCOMP, NO_NEW_PRIVILEGES = 1, 4, 22, 38
"""PR_SET_...: what `control` sets."""

SECCOMP_FILTER = 2
CAPABILITY_VERSION = 0x20080522


class Kernel:
    """The C library's functions; each raises an OSError that names the call it failed in."""

    def __init__(self) -> None:
        self._library = ctypes.CDLL(None, use_errno=True)
        self._kept: list[object] = []

    def _call(self, name: str, *arguments: object) -> int:
        return _checked(getattr(self._library, name), *arguments)

    def control(self, option: int, value: int, *more: int) -> None:
        """`prctl`."""
        numbers = [*(value, *more), 0, 0, 0, 0][:4]
        self._call("prctl", ctypes.c_int(option), *map(ctypes.c_ulong, numbers))

    def drop_capabilities(self) -> None:
        """Give up all capabilities; none of them can be had back."""
        # The version and this process; effective, permitted and inherited, of each half 32.
        header = struct.pack("Ii", CAPABILITY_VERSION, 0)
        self._call("capset", header, bytes(24))

    def filter_system_calls(self, program: bytes) -> None:
        """Let a BPF program decide about each system call from now on, for good."""
        instructions = ctypes.create_string_buffer(program)
        array = ctypes.create_string_buffer(
            struct.pack("HP", len(program) // 8, ctypes.addressof(instructions))
        )
        # The kernel is told only where they lie.
        self._kept += [instructions, array]
        self.control(SECCOMP, SECCOMP_FILTER, ctypes.addressof(array))


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
