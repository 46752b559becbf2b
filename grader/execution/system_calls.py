"""System calls that an answer may make."""

from __future__ import annotations

import errno
import importlib
import tempfile
from collections.abc import Iterable
from contextlib import suppress

ALLOWED = (
    # memory
    *("brk", "mmap", "munmap", "mremap", "mprotect", "madvise", "mincore", "membarrier"),
    # reading files, and writing to what is open already
    *("read", "readv", "pread64", "preadv", "write", "writev", "pwrite64", "lseek", "close"),
    *("open", "openat", "openat2", "close_range", "dup", "dup2", "dup3", "fcntl", "fadvise64"),
    *("stat", "lstat", "fstat", "newfstatat", "statx", "statfs", "fstatfs", "getcwd"),
    *("access", "faccessat", "faccessat2", "readlink", "readlinkat", "getdents", "getdents64"),
    # waiting, clocks, the timer that interrupts a statement
    *("poll", "ppoll", "select", "pselect6", "nanosleep", "clock_nanosleep", "clock_gettime"),
    *("clock_getres", "gettimeofday", "time", "times", "getitimer", "setitimer", "alarm", "pause"),
    # signals to oneself come from the kernel: faults and the timer
    *("rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "rt_sigpending", "sigaltstack"),
    *("rt_sigsuspend", "restart_syscall"),
    # locks, and what the C library sets up
    *("futex", "futex_waitv", "set_robust_list", "get_robust_list", "rseq", "set_tid_address"),
    *("arch_prctl", "getrandom"),
    # asking what one is
    *("getpid", "gettid", "getppid", "getpgrp", "getpgid", "getsid", "getuid", "geteuid"),
    *("getgid", "getegid", "getresuid", "getresgid", "getgroups", "capget", "umask"),
    *("uname", "sysinfo", "getrusage", "getrlimit", "getpriority", "getcpu"),
    *("sched_yield", "sched_getaffinity", "sched_getparam", "sched_getscheduler"),
    *("sched_get_priority_max", "sched_get_priority_min"),
    *("exit", "exit_group"),
)
"""What Python, NumPy and torch need to compute with one thread, import, print and raise.

All else is refused with EPERM: an innocent line that would like a thread, a socket, a process or a
file to write to gets an exception that says so.
"""

HOSTILE = (
    *("ptrace", "process_vm_readv", "process_vm_writev", "kcmp", "process_madvise"),
    *("pidfd_open", "pidfd_getfd", "pidfd_send_signal"),
    *("unshare", "setns", "mount", "umount2", "pivot_root", "chroot", "mount_setattr"),
    *("open_tree", "move_mount", "fsopen", "fsconfig", "fsmount", "fspick"),
    *("name_to_handle_at", "open_by_handle_at"),
    *("bpf", "perf_event_open", "userfaultfd", "add_key", "request_key", "keyctl"),
    *("io_uring_setup", "io_uring_enter", "io_uring_register"),
    *("init_module", "finit_module", "delete_module", "kexec_load", "kexec_file_load"),
    *("reboot", "swapon", "swapoff", "acct", "settimeofday", "clock_settime", "adjtimex"),
    *("sethostname", "setdomainname", "iopl", "ioperm"),
)
"""What no answer makes by accident: it ends the process, with SIGSYS."""

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
