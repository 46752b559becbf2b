import os
import platform
import socket
import struct
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from corpus.readers.places import PROJECT
from grader.execution.sandbox import Sandbox, why_not, worker_environment
from grader.worker import system_calls
from grader.worker.confinement import (
    LARGEST_STACK,
    MOST_OPEN_FILES,
    NOT_CONFINED,
    Confinement,
)
from grader.worker.system_calls import (
    ALLOW,
    ALLOWED,
    CONDITIONAL,
    HOSTILE,
    KILL,
    MACHINES,
    REFUSE,
    filter_program,
)
from tests.helpers.confined import ConfinedWorker, confined_worker, run_outside

needs_bwrap = pytest.mark.skipif(
    why_not(Sandbox.BWRAP) != "", reason=f"no sandbox here: {why_not(Sandbox.BWRAP)}"
)
needs_linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="Linux's layers")


@pytest.fixture(scope="module")
def worker() -> Iterator[ConfinedWorker]:
    """In bwrap, with all layers and torch."""
    with confined_worker(Sandbox.BWRAP, imports="torch,numpy") as worker:
        yield worker


@pytest.fixture(scope="module")
def bare() -> Iterator[ConfinedWorker]:
    """In bwrap, without the filter of system calls."""
    with confined_worker(Sandbox.BWRAP, without="filter") as worker:
        yield worker


@pytest.fixture(scope="module")
def loose() -> Iterator[ConfinedWorker]:
    """Without bwrap, with the layers that the kernel gives to everybody."""
    with confined_worker(Sandbox.NONE) as worker:
        yield worker


@pytest.fixture(scope="module")
def world() -> Iterator[dict[str, Any]]:
    """What there is to get at: a private file, a folder to write to, servers that listen."""
    with tempfile.TemporaryDirectory() as name, socket.socket() as tcp:
        folder = Path(name)
        (folder / "private.txt").write_text("secret", encoding="utf-8")
        tcp.bind(("127.0.0.1", 0))
        tcp.listen(64)
        udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        udp.bind(("127.0.0.1", 0))
        local = socket.socket(socket.AF_UNIX)
        local.bind(str(folder / "socket"))
        local.listen(64)
        abstract = socket.socket(socket.AF_UNIX)
        abstract.bind(f"\0backprop-ninja-{os.getpid()}")
        abstract.listen(64)
        with udp, local, abstract:
            yield {
                "folder": name,
                "project": str(PROJECT),
                "port": tcp.getsockname()[1],
                "udp_port": udp.getsockname()[1],
                "abstract": f"\0backprop-ninja-{os.getpid()}",
                "judge": os.getpid(),
            }


LIBC = "import ctypes; libc = ctypes.CDLL(None, use_errno=True)\n"
CALL = LIBC + "answer = libc.syscall({}, 0, 0, 0, 0, 0); result = 'done'"
"""A system call that fails for its arguments: outside it comes back all the same."""

ATTEMPTS = {
    "read the list of users": "result = 'done' if open('/etc/passwd').read() else 'empty'",
    "read a private file": "open(folder + '/private.txt').read(); result = 'done'",
    "read the exercises": (
        "open(project + '/makemore_data/course/course.toml').read(); result = 'done'"
    ),
    "read the solutions": (
        "import pathlib; assert list(pathlib.Path(project, 'notebooks').rglob('*.ipynb'))\n"
        "result = 'done'"
    ),
    "import the judge's code": (
        "import sys; sys.path.append(project); import grader.submission.read; result = 'done'"
    ),
    "list the home folder": (
        "import os, pathlib, pwd; os.listdir(pwd.getpwuid(os.getuid()).pw_dir); result = 'done'"
    ),
    "write to a folder": "open(folder + '/written', 'w').write('x'); result = 'done'",
    "write to /tmp": (
        "import os, tempfile\n"
        "path = f'/tmp/backprop-ninja-{os.getpid()}'\n"
        "open(path, 'w').write('x'); os.unlink(path); result = 'done'"
    ),
    "write to shared memory": (
        "import os\n"
        "path = f'/dev/shm/backprop-ninja-{os.getpid()}'\n"
        "open(path, 'w').write('x'); os.unlink(path); result = 'done'"
    ),
    "make a folder": "import os; os.mkdir(folder + '/made'); result = 'done'",
    "connect by TCP": (
        "import socket; socket.create_connection(('127.0.0.1', port), 5); result = 'done'"
    ),
    "listen": "import socket; socket.create_server(('127.0.0.1', 0)); result = 'done'",
    "connect to a socket in a folder": (
        "import socket; socket.socket(socket.AF_UNIX).connect(folder + '/socket')\nresult = 'done'"
    ),
    "connect to an abstract socket": (
        "import socket; socket.socket(socket.AF_UNIX).connect(abstract); result = 'done'"
    ),
    "read the memory of a process": (
        "import os; open(f'/proc/{os.getppid()}/mem', 'rb'); result = 'done'"
    ),
    "signal the judge": "import os; os.kill(judge, 0); result = 'done'",
    "signal the parent": "import os; os.kill(os.getppid(), 0); result = 'done'",
    "take fifty gigabytes": (
        "import mmap\n"
        "flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | getattr(mmap, 'MAP_NORESERVE', 0x4000)\n"
        "mmap.mmap(-1, 50 * 2**30, flags); result = 'done'"
    ),
}
"""Attempts that end in an exception inside."""

REFUSED = {
    "send by UDP": (
        "import socket\n"
        "socket.socket(type=socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', udp_port))\n"
        "result = 'done'"
    ),
    "make a socket": "import socket; socket.socket(); result = 'done'",
    "make a pair of sockets": "import socket; socket.socketpair(); result = 'done'",
    "fork": "import os; pid = os.fork() or os._exit(0); os.waitpid(pid, 0); result = 'done'",
    "run a program": (
        "import subprocess, sys; subprocess.run([sys.executable, '-V'], check=True)\n"
        "result = 'done'"
    ),
    "run a command": "import os; result = 'done' if os.system('true') == 0 else 1 / 0",
    "become a program": (
        "import os, sys\n"
        "code = 'print(chr(34) + \"done\" + chr(34))'\n"
        "os.execv(sys.executable, [sys.executable, '-c', code])"
    ),
    "start a thread": "import _thread; _thread.start_new_thread(int, ()); result = 'done'",
    "make shared memory": (
        LIBC + "key = libc.shmget(0, 4096, 0o1600)\n"
        "if key < 0: raise OSError(ctypes.get_errno(), 'shmget')\n"
        "libc.shmctl(key, 0, None); result = 'done'"
    ),
    "make a file in memory": "import os; os.memfd_create('x'); result = 'done'",
    "be dumpable": (
        LIBC + "if libc.prctl(4, 1, 0, 0, 0) < 0: raise OSError(ctypes.get_errno(), 'prctl')\n"
        "result = 'done'"
    ),
    "change a limit": (
        "import resource\n"
        "resource.setrlimit(resource.RLIMIT_CPU, resource.getrlimit(resource.RLIMIT_CPU))\n"
        "result = 'done'"
    ),
    "change a priority": "import os; os.nice(1); result = 'done'",
    "move to a processor": (
        "import os; os.sched_setaffinity(0, os.sched_getaffinity(0)); result = 'done'"
    ),
}
"""Attempts that only the filter of system calls must answer for."""

KILLED = {
    "be traced": LIBC + "libc.ptrace(0, 0, 0, 0); result = 'done'",
    "make a namespace": LIBC + "libc.unshare(0x10000000); result = 'done'",
    "mount": LIBC + "libc.mount(b'a', b'/nowhere', b'tmpfs', 0, None); result = 'done'",
    "read another's memory": LIBC + "libc.process_vm_readv(0, 0, 0, 0, 0, 0); result = 'done'",
    "set the name of the host": LIBC + "libc.sethostname(b'a', -1); result = 'done'",
    "signal by descriptor": CALL.format(424),
    "set up a ring": CALL.format(425),
    "open a file system": CALL.format(430),
    "open a process": CALL.format(434),
}
"""Attempts that nobody makes by accident: they end the process."""


@needs_bwrap
@pytest.mark.parametrize("attempt", ATTEMPTS)
def test_an_attempt_fails_and_would_succeed_outside(
    attempt: str, worker: ConfinedWorker, world: dict[str, Any]
) -> None:
    assert run_outside(ATTEMPTS[attempt], **world) == "done"
    became = worker.run(ATTEMPTS[attempt], **world)
    assert "result" not in became
    # A process that is confined and goes on, not one that never began.
    assert became["error"] in {"PermissionError", "FileNotFoundError", "OSError"} | {
        *("KeyError", "ModuleNotFoundError", "AssertionError")
    }
    assert became["status"] == 0


@needs_bwrap
@pytest.mark.parametrize("attempt", ATTEMPTS)
def test_most_attempts_fail_without_the_filter(
    attempt: str, bare: ConfinedWorker, world: dict[str, Any]
) -> None:
    if attempt in ("listen", "signal the parent"):
        # On its own network there is nobody to hear it; a signal is a system call.
        return
    assert "result" not in bare.run(ATTEMPTS[attempt], **world)


@needs_bwrap
@pytest.mark.parametrize("attempt", REFUSED)
def test_a_system_call_is_refused_that_is_allowed_outside(
    attempt: str, worker: ConfinedWorker, world: dict[str, Any]
) -> None:
    assert run_outside(REFUSED[attempt], **world) == "done"
    became = worker.run(REFUSED[attempt], **world)
    assert "result" not in became
    assert became["error"] in {
        "PermissionError",
        "RuntimeError",
        "OSError",
        "ZeroDivisionError",
    } | {"ValueError"}
    assert became["status"] == 0


@needs_bwrap
@pytest.mark.parametrize("attempt", KILLED)
def test_a_hostile_system_call_ends_the_process(
    attempt: str, worker: ConfinedWorker, world: dict[str, Any]
) -> None:
    assert run_outside(KILLED[attempt], **world) == "done"
    became = worker.run(KILLED[attempt], **world)
    assert became == {"status": "SIGSYS"}


@needs_linux
@pytest.mark.parametrize("attempt", REFUSED)
def test_without_bwrap_the_filter_still_refuses(
    attempt: str, loose: ConfinedWorker, world: dict[str, Any]
) -> None:
    assert loose.is_filtered
    assert "result" not in loose.run(REFUSED[attempt], **world)


# --- what an answer finds


@pytest.mark.slow
@needs_bwrap
def test_an_answer_sees_no_environment_of_the_judge(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOKEN_OF_THE_JUDGE", "secret")
    code = "import os; result = sorted(os.environ)"
    with confined_worker(Sandbox.BWRAP) as worker:
        inside = worker.run(code)["result"]
    assert "TOKEN_OF_THE_JUDGE" in run_outside(code)
    assert set(inside) <= {*worker_environment(Sandbox.BWRAP), "PWD", "LC_CTYPE"}


@needs_bwrap
def test_an_answer_has_one_descriptor_beside_the_standard_ones(worker: ConfinedWorker) -> None:
    code = """
import os
result = []
for descriptor in range(1000):
    try:
        os.fstat(descriptor)
        result.append(descriptor)
    except OSError:
        pass
"""
    assert len(worker.run(code)["result"]) == 4


@needs_bwrap
def test_an_answer_has_no_capability(worker: ConfinedWorker) -> None:
    code = (
        LIBC
        + """
header = (ctypes.c_uint32 * 2)(0x20080522, 0)
sets = (ctypes.c_uint32 * 6)()
assert libc.capget(header, sets) == 0
result = list(sets)
"""
    )
    assert worker.run(code)["result"] == [0] * 6


@needs_bwrap
def test_no_folder_inside_can_be_written(bare: ConfinedWorker) -> None:
    code = """
import os
result, seen = [], 0
for place in ["/", "/tmp", "/dev", "/dev/shm", "/proc", "/grader", "/usr/lib", os.getcwd()]:
    try:
        open(os.path.join(place, "written"), "w")
        result.append(place)
    except OSError:
        seen += 1
result.append(seen)
"""
    assert bare.run(code)["result"] == [8]


@needs_bwrap
def test_the_worker_package_is_all_there_is_of_the_grader(bare: ConfinedWorker) -> None:
    code = """
import os, sys
result = sorted(
    os.path.join(place, name)
    for place in sys.path if os.path.isdir(place)
    for name in ("grader", "makemore_data", "notebooks") if os.path.isdir(f"{place}/{name}")
    for name in [f"{name}/{entry}" for entry in os.listdir(f"{place}/{name}")]
)
"""
    assert bare.run(code)["result"] == ["/grader/grader/__init__.py", "/grader/grader/worker"]


# --- limits


@needs_bwrap
def test_limits_are_set_and_hold_for_good(worker: ConfinedWorker) -> None:
    code = """
import resource
kinds = ["CPU", "CORE", "FSIZE", "NOFILE", "STACK", "NPROC", "MEMLOCK"]
result = {kind: resource.getrlimit(getattr(resource, "RLIMIT_" + kind)) for kind in kinds}
"""
    limits = worker.run(code, cpu_seconds=2.5)["result"]
    assert {soft == hard for soft, hard in limits.values()} == {True}
    assert limits["CPU"] == [3, 3]
    assert [limits[kind][0] for kind in ("CORE", "FSIZE", "NPROC", "MEMLOCK")] == [0, 0, 0, 0]
    assert (limits["NOFILE"][0], limits["STACK"][0]) <= (MOST_OPEN_FILES, LARGEST_STACK)


@needs_linux
def test_each_limit_is_there_without_any_other_layer(tmp_path: Path) -> None:
    code = """
import os, sys
from grader.worker.confinement import Confinement
def attempt(what, confined):
    keep = os.open(os.devnull, os.O_RDWR)
    child = os.fork()
    if child == 0:
        if confined:
            Confinement().enter(2**30, 10.0, keep)
        try:
            what()
        except OSError:
            os._exit(1)
        os._exit(0)
    return os.waitpid(child, 0)[1] >> 8
def write():
    with open(path, "wb", buffering=0) as file:
        file.write(b"x")
def open_many():
    [os.dup(0) for _ in range(100)]
result = [[attempt(what, confined) for what in (write, open_many)] for confined in (False, True)]
"""
    code = f"import sys; sys.path.insert(0, {str(PROJECT)!r})" + code
    assert run_outside(code, path=str(tmp_path / "file")) == [[0, 0], [1, 1]]


@pytest.mark.slow
@needs_bwrap
def test_an_endless_loop_ends_when_its_processor_time_is_over(worker: ConfinedWorker) -> None:
    code = "import signal; signal.signal(signal.SIGXCPU, signal.SIG_IGN)\nwhile True: pass"
    assert worker.run(code, cpu_seconds=1)["status"] == "SIGKILL"


@needs_bwrap
def test_what_is_too_large_is_an_error_and_the_answer_goes_on(worker: ConfinedWorker) -> None:
    code = """
import torch
try:
    torch.ones(2**36)
except RuntimeError:
    result = float((torch.ones(100, 100) @ torch.ones(100, 100)).sum())
"""
    assert worker.run(code)["result"] == 1e6


@needs_bwrap
@pytest.mark.parametrize(
    ("code", "status"),
    [
        ("import os; os._exit(7)", 7),
        ("import os; os.abort()", "SIGSEGV"),
        ("import ctypes; ctypes.string_at(0)", "SIGSEGV"),
        ("import os; os.closerange(0, 100)", 0),
    ],
)
def test_an_answer_that_ends_its_process_ends_nothing_else(
    code: str, status: object, worker: ConfinedWorker
) -> None:
    became = worker.run(code)
    assert became["status"] == status
    assert worker.run("result = 1")["result"] == 1


# --- ordinary work


WORK = {
    # Not asked for in time, it would be DEFAULT inside: slow, and rounding otherwise.
    "the processor's instructions": "result = torch.backends.cpu.get_cpu_capability()",
    "matmul": "a = torch.ones(70, 50); result = float((a @ a.T).sum())",
    "many threads asked for": (
        "torch.set_num_threads(8); a = torch.ones(400, 400); result = float((a @ a).exp().sum())"
    ),
    "einsum": "result = torch.einsum('ij,jk->ik', torch.ones(2, 3), torch.ones(3, 2)).tolist()",
    "sorting": "result = torch.arange(9).flip(0).sort().values.tolist()",
    "softmax": "result = float(F.softmax(torch.ones(3, 4), 1).sum())",
    "one-hot": "result = F.one_hot(torch.tensor([1, 2]), 4).tolist()",
    "convolution": "result = float(F.conv2d(torch.ones(1, 1, 8, 8), torch.ones(2, 1, 3, 3)).sum())",
    "linear algebra": "result = float(torch.linalg.svd(torch.eye(30)).S.sum())",
    "solving": "result = torch.linalg.solve(torch.eye(3), torch.ones(3)).tolist()",
    "random numbers": "g = torch.Generator().manual_seed(1); torch.rand(3, generator=g)\n"
    "result = 1",
    "numpy": "import numpy; result = float(numpy.linalg.norm(torch.ones(4).numpy()))",
    "numpy's randomness": "import numpy; numpy.random.default_rng().normal(); result = 1",
    "printing": "print(torch.ones(2)); result = repr(torch.ones(2, 2))",
    "a lazy import": "import torch.distributions, torch.fft, fractions, sqlite3; result = 1",
    "saving to memory": "import io; torch.save({'a': torch.ones(2)}, io.BytesIO()); result = 1",
    "sleeping": "import time; time.sleep(0.001); result = time.time() > 0",
    "reading library source": "import inspect; result = len(inspect.getsource(F.softmax)) > 100",
    "a traceback": (
        "import traceback\ntry: 1 / 0\nexcept Exception: result = traceback.format_exc()"
    ),
    "deep recursion": (
        "def f(n): return f(n + 1)\ntry: f(0)\nexcept RecursionError: result = 'too deep'"
    ),
    "a timer": (
        "import signal, time\n"
        "def ring(*_): raise TimeoutError\n"
        "signal.signal(signal.SIGALRM, ring); signal.setitimer(signal.ITIMER_REAL, 0.01)\n"
        "try: time.sleep(5)\nexcept TimeoutError: result = 'rang'"
    ),
    "randomness": (
        "import os, random, uuid; random.random(); os.urandom(4); uuid.uuid4(); result = 1"
    ),
    "nowhere to write to": "import os; open(os.devnull, 'w').write('x'); result = 1",
}


@pytest.mark.slow
@needs_bwrap
@pytest.mark.parametrize("work", WORK)
def test_ordinary_work_comes_out_as_outside(work: str, worker: ConfinedWorker) -> None:
    code = "import torch; F = torch.nn.functional\n" + WORK[work]
    became = worker.run(code)
    assert "error" not in became, became
    if "traceback" not in work:
        assert became["result"] == _outside_with_torch()[work]


_results: dict[str, Any] = {}


def _outside_with_torch() -> dict[str, Any]:
    """The results of all the work outside, from one process that imports torch."""
    if not _results:
        code = """
import torch
result = {}
for name, snippet in work.items():
    space = {"torch": torch, "F": torch.nn.functional}
    exec(snippet, space)
    result[name] = space["result"]
"""
        _results.update(run_outside(code, work=WORK))
    return _results


@pytest.mark.slow
@needs_bwrap
def test_numbers_drawn_at_random_are_the_same_in_each_answer(worker: ConfinedWorker) -> None:
    """Then what an answer gives does not depend on the worker that it came to."""
    code = "import random; result = [random.random(), random.randrange(10**9)]"
    with confined_worker(Sandbox.BWRAP, imports="torch") as other:
        drawn = [one.run(code)["result"] for one in (worker, worker, other)]
    assert drawn == [drawn[0]] * 3


# --- promises that are not kept


def _in_child(confinement: Confinement, keep: int) -> int:
    child = os.fork()
    if child == 0:
        try:
            confinement.enter(2**30, 10.0, keep)
        finally:
            os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@pytest.mark.slow
@needs_linux
def test_a_layer_that_fails_ends_the_child_before_it_runs_anything() -> None:
    code = """
import os, sys
from dataclasses import replace
from grader.worker.confinement import Confinement, system_call_filter
from tests.grader.worker.test_confinement import _in_child
good = Confinement.prepare()
bad = replace(good, system_calls=system_call_filter(b"no program of BPF, at all"))
keep = os.open(os.devnull, os.O_RDWR)
result = [_in_child(good, keep), _in_child(bad, keep)]
"""
    assert run_outside(f"import sys; sys.path.insert(0, {str(PROJECT)!r})" + code) == [
        0,
        NOT_CONFINED,
    ]


@pytest.mark.slow
@needs_linux
@pytest.mark.parametrize("program", [None, b"no program"])
def test_a_filter_that_does_not_work_is_left_out(program: bytes | None) -> None:
    code = f"""
import sys; sys.path.insert(0, {str(PROJECT)!r})
from grader.worker import confinement
confinement.filter_program = lambda: {program!r}
result = confinement.Confinement.prepare().system_calls is None
"""
    assert run_outside(code) is True


# --- the filter itself


@pytest.mark.parametrize("machine", range(len(MACHINES)))
def test_no_call_is_decided_twice(machine: int) -> None:
    calls = (*ALLOWED.values(), *CONDITIONAL.values(), *HOSTILE.values())
    numbers = [numbers[machine] for numbers in calls if numbers[machine] >= 0]
    assert len(set(numbers)) == len(numbers)


def _decided(program: bytes, number: int, *arguments: int, machine: int = 0xC000003E) -> int:
    """What a program's instructions come to, as the kernel runs them."""
    data = struct.pack("<IIQ6Q", number, machine, 0, *arguments, *[0] * (6 - len(arguments)))
    instructions = list(struct.iter_unpack("HBBI", program))
    position, accumulator = 0, 0
    while True:
        operation, if_true, if_false, value = instructions[position]
        position += 1
        match operation:
            case system_calls.LOAD:
                (accumulator,) = struct.unpack_from("<I", data, value)
            case system_calls.RETURN:
                return int(value)
            case system_calls.IS:
                position += if_true if accumulator == value else if_false


@pytest.mark.parametrize("machine", MACHINES)
def test_each_call_is_decided_as_the_table_says(
    machine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(platform, "machine", lambda: machine)
    monkeypatch.setattr(sys, "platform", "linux")
    program = filter_program()
    assert program is not None
    position, name = MACHINES[machine]
    allow, kill, refuse = (end[0][3] for end in (ALLOW, KILL, REFUSE))

    def decided(number: int, *arguments: int) -> int:
        return _decided(program, number, *arguments, machine=name)

    ends = {numbers[position]: allow for numbers in ALLOWED.values()}
    ends |= {numbers[position]: kill for numbers in HOSTILE.values()}
    asked = {numbers[position] for numbers in CONDITIONAL.values()}
    for number in {*range(1000), 2**30, 2**30 + 1, 2**32 - 1} - asked:
        assert decided(number) == ends.get(number, refuse), number
    control, ioctl, limit = (CONDITIONAL[n][position] for n in ("prctl", "ioctl", "prlimit64"))
    assert [decided(control, option) for option in (15, 16, 4, 22)] == [allow] * 2 + [refuse] * 2
    assert [decided(ioctl, 1, asks) for asks in (0x5413, 0x5412)] == [allow, refuse]
    new = [decided(limit, 0, 7, at) for at in (0, 1, 2**40)]
    assert new == [allow, refuse, refuse]
    assert decided(limit, 1) == refuse
    other = next(other for _, other in MACHINES.values() if other != name)
    assert _decided(program, 0, machine=other) == kill
