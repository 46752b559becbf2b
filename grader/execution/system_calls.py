"""System calls that an answer may make."""

from __future__ import annotations

import errno
import importlib
import itertools
import tempfile
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

_CALLS: Mapping[str, Mapping[str, Sequence[str]]] = tomllib.loads(
    Path(__file__).with_suffix(".toml").read_text("utf-8")
)
ALLOWED, HOSTILE = (
    tuple(itertools.chain.from_iterable(_CALLS[kind].values())) for kind in ("allowed", "hostile")
)

SET_NAME, GET_NAME, NAME_MEMORY = 15, 16, 0x53564D41
TERMINAL_SIZE, IS_TERMINAL, BYTES_READY = 0x5413, 0x5401, 0x541B
CLOSE_ON_EXEC, NO_CLOSE_ON_EXEC = 0x5451, 0x5450

FOR_SOME_VALUES = {
    "prctl": (0, (GET_NAME, SET_NAME, NAME_MEMORY)),
    "ioctl": (1, (TERMINAL_SIZE, IS_TERMINAL, BYTES_READY, CLOSE_ON_EXEC, NO_CLOSE_ON_EXEC)),
}
"""Calls that are allowed for these values of an argument: its position, the values."""


def filter_program() -> bytes | None:
    """The BPF program that lets these calls pass; None without pyseccomp and libseccomp.

    Made on the judge's side, where the C library's tools are that find libseccomp; the worker
    only hands the bytes to the kernel.
    """
    try:
        seccomp = importlib.import_module("pyseccomp")
    # RuntimeError: libseccomp itself is not there.
    except (ImportError, RuntimeError, OSError):
        return None
    rules = seccomp.SyscallFilter(seccomp.ERRNO(errno.EPERM))
    with suppress(OSError):
        # A tree instead of a list (libseccomp 2.5): each child asks it about every call there is.
        rules.set_attr(seccomp.Attr.CTL_OPTIMIZE, 2)

    def known(names: Iterable[str]) -> list[str]:
        # An older libseccomp has not heard of the newest calls; they are refused, then.
        return [name for name in names if seccomp.resolve_syscall(seccomp.Arch.NATIVE, name) != -1]

    for name in known(ALLOWED):
        rules.add_rule(seccomp.ALLOW, name)
    for name in known(HOSTILE):
        rules.add_rule(seccomp.KILL_PROCESS, name)
    for name, (position, values) in FOR_SOME_VALUES.items():
        for value in values:
            rules.add_rule(seccomp.ALLOW, name, seccomp.Arg(position, seccomp.EQ, value))
    # To ask for a limit of one's own, not to set one: where the new limit would stand is nothing.
    rules.add_rule(
        *(seccomp.ALLOW, "prlimit64"),
        *(seccomp.Arg(0, seccomp.EQ, 0), seccomp.Arg(2, seccomp.EQ, 0)),
    )
    with tempfile.TemporaryFile() as file:
        rules.export_bpf(file)
        file.seek(0)
        return file.read()
