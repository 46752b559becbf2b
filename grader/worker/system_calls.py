"""The filter of system calls that answers run under, as a program of the kernel's BPF machine."""

from __future__ import annotations

import errno
import platform
import struct
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path

from grader.worker.terms import LINUX

Numbers = Mapping[str, Sequence[int]]

ALLOWED: Numbers
CONDITIONAL: Numbers
HOSTILE: Numbers
ALLOWED, CONDITIONAL, HOSTILE = (
    {name: numbers for group in groups.values() for name, numbers in group.items()}
    for groups in tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8")).values()
)

MACHINES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
"""Where a machine's numbers stand in the table, and what the kernel calls it."""

NUMBER, MACHINE = 0, 4
ARGUMENT = tuple(range(16, 64, 8))
"""Where a call's number, machine and arguments lie (the lower half of each, of 32 bits)."""

SET_NAME, GET_NAME, NAME_MEMORY = 15, 16, 0x53564D41
TERMINAL_SIZE, IS_TERMINAL, BYTES_READY = 0x5413, 0x5401, 0x541B
CLOSE_ON_EXEC, NO_CLOSE_ON_EXEC = 0x5451, 0x5450

FOR_SOME_VALUES: Mapping[str, Mapping[int, Sequence[int]]] = {
    "prctl": {ARGUMENT[0]: (GET_NAME, SET_NAME, NAME_MEMORY)},
    "ioctl": {
        ARGUMENT[1]: (TERMINAL_SIZE, IS_TERMINAL, BYTES_READY, CLOSE_ON_EXEC, NO_CLOSE_ON_EXEC)
    },
    # To ask for a limit of one's own, not to set one: where the new limit would stand is nothing.
    "prlimit64": {ARGUMENT[0]: (0,), ARGUMENT[2]: (0,), ARGUMENT[2] + 4: (0,)},
}
"""Calls that are allowed for these values of their arguments."""

Instruction = tuple[int, int, int, int]
"""Operation, how many to skip if it is true and if not, and a number."""

LOAD, IS, RETURN = 0x20, 0x15, 0x06
ALLOW = [(RETURN, 0, 0, 0x7FFF0000)]
KILL = [(RETURN, 0, 0, 0x80000000)]
REFUSE = [(RETURN, 0, 0, 0x00050000 | errno.EPERM)]


def filter_program() -> bytes | None:
    """The program for this machine; None where there are no numbers for it."""
    machine = platform.machine()
    if not LINUX or machine not in MACHINES:
        return None
    position, name = MACHINES[machine]
    ends = dict[int, list[Instruction]]()
    for calls, end in ((ALLOWED, ALLOW), (HOSTILE, KILL)):
        ends |= {numbers[position]: end for numbers in calls.values()}
    for call, numbers in CONDITIONAL.items():
        ends[numbers[position]] = _allow_for(FOR_SOME_VALUES[call])
    ends.pop(-1, None)
    return assemble(ends, REFUSE, name)


def assemble(
    ends: Mapping[int, list[Instruction]], otherwise: list[Instruction], machine: int
) -> bytes:
    """A program that decides each call by its number as `ends` says, or `otherwise`.

    A list is as quick as a tree: the kernel remembers which calls are let through anyway.
    """
    program = [(LOAD, 0, 0, MACHINE), (IS, 1, 0, machine), *KILL, (LOAD, 0, 0, NUMBER)]
    for number, end in ends.items():
        program += [(IS, 0, len(end), number), *end]
    return b"".join(struct.pack("HBBI", *one) for one in [*program, *otherwise])


def _allow_for(values: Mapping[int, Sequence[int]]) -> list[Instruction]:
    """Instructions that allow a call if each argument at hand has one of its values."""
    found = list[Instruction]()
    for place, allowed in values.items():
        tests = [(IS, len(allowed) - n, 0, value) for n, value in enumerate(allowed)]
        found += [(LOAD, 0, 0, place), *tests, *REFUSE]
    return found + ALLOW
