"""Attach to the process above as a debugger would, and open doors to the kernel.

must not: have one of these calls allowed
flag: module ended-process
naive: none, since it earns nothing by it
uses: places
needs: sandbox
"""

import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)
allowed = []
PTRACE_SEIZE, KEYCTL, BPF, PERF, UNSHARE, MOUNT, USERFAULTFD, IO_URING = 0x4206, 250, 321, 298, 272, 165, 323, 425
if libc.ptrace(PTRACE_SEIZE, os.getppid(), 0, 0) == 0:
    allowed.append("ptrace")
for name, call in (("unshare", (UNSHARE, 0x10000000)), ("bpf", (BPF, 0, 0, 0)), ("userfaultfd", (USERFAULTFD, 0)), ("mount", (MOUNT, b"none", b"/tmp", b"tmpfs", 0, 0)), ("io_uring", (IO_URING, 8, 0))):
    if libc.syscall(*call) >= 0:
        allowed.append(name)
if allowed:
    open(CANARY, "a").write(repr(allowed))
