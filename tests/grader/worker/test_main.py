"""The worker process: its pipes, the values it keeps, and when it ends."""

from __future__ import annotations

import os
import runpy
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from io import FileIO
from pathlib import Path
from typing import cast

import pytest
import torch

import grader.execution.runner
import grader.worker.main
from grader.execution.runner import start_worker
from grader.execution.sandbox import Sandbox
from grader.worker.frames import Reply, read_frame, write_frame
from grader.worker.job import Job, Values
from grader.worker.results import REFUSED, Result, unpack_results
from grader.worker.terms import MOST_VALUES, Limits
from tests.helpers.asking import VALUES, Run, request

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork on Windows")

PATIENCE_SECONDS = 600


@dataclass(frozen=True, slots=True)
class Said:
    """A worker's reply."""

    results: list[Result]
    deadly: Mapping[int, str]
    incidents: list[str]


class Process:
    """A worker behind its pipes, spoken to by hand."""

    def __init__(self) -> None:
        self.popen = start_worker(Sandbox.NONE)

    @property
    def stdin(self) -> FileIO:
        return cast(FileIO, self.popen.stdin)

    def hand(self, values: Values) -> None:
        write_frame(self.stdin.write, *values.pack())

    def ask(self, asked: Job) -> Said:
        write_frame(self.stdin.write, *asked.pack())
        frame = read_frame(cast(FileIO, self.popen.stdout).readinto, 2**30)
        assert frame is not None, "the worker has ended"
        reply = Reply.unpack(*frame)
        results = unpack_results(reply.blob, len(asked.runs)) if reply.blob else []
        return Said(results, reply.deadly, reply.incidents)

    def ended(self) -> int:
        """How it ended, which it does in time."""
        return self.popen.wait(PATIENCE_SECONDS)

    def close(self) -> None:
        self.popen.kill()
        self.popen.communicate()


@contextmanager
def started() -> Iterator[Process]:
    process = Process()
    try:
        yield process
    finally:
        process.close()


@pytest.fixture(scope="module")
def process() -> Iterator[Process]:
    with started() as running:
        running.hand(VALUES)
        yield running


# --- the judge's pipes


@pytest.mark.slow
@pytest.mark.parametrize(
    "source",
    [
        "import os\nos.write(1, b'x' * 100)\na = x",
        "import sys\nsys.__stdout__.write('x' * 100)\na = x",
        "a = input()",
        "import os\na = x * len(os.read(0, 100))",
        # A reply of one's own in every pipe there is: the next request's, if it got through.
        "import os, struct\n"
        "reply = struct.pack('<IQ', 7, 1) + b'[[],[]]x'\n"
        "for fd in range(200):\n"
        "    try: os.write(fd, reply)\n"
        "    except OSError: pass\n"
        "a = x",
    ],
    ids=["output", "sys.__stdout__", "input", "read", "every pipe"],
)
def test_an_answer_does_not_reach_the_judges_pipes(process: Process, source: str) -> None:
    assert len(process.ask(request(source)).results) == 2
    after = process.ask(request("a = 1 / 0"))
    assert [[p.kind for p in r.problems] for r in after.results] == [["ZeroDivisionError"]] * 2
    assert (after.deadly, after.incidents) == ({}, [])


@pytest.mark.slow
@pytest.mark.parametrize("sent", [b"", b"\x01"], ids=["nothing", "half"])
def test_requests_end_with_standard_input(sent: bytes) -> None:
    """Half a frame is not a request."""
    with started() as process:
        process.stdin.write(sent)
        process.stdin.close()
        output = cast(FileIO, process.popen.stdout).read()
        process.popen.stdin = None
        assert output == b""
        assert (process.ended() == 0) is (sent == b"")


@needs_fork
def test_the_stop_button_does_not_end_the_worker(process: Process) -> None:
    """An interrupt goes to the kernel's whole process group, in which the worker is not."""
    assert os.getpgid(process.popen.pid) != os.getpgid(os.getpid())


@pytest.mark.slow
@needs_fork
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks into /proc")
def test_a_judge_that_goes_amid_a_request_takes_the_answer_with_it() -> None:
    """Not only between answers: an endless loop would go on until its time is over."""
    with started() as process:
        process.hand(VALUES)
        own = process.ask(request("import os\na = x * os.getpid()", Run(double=True)))
        assert own.results[0].tensors["a"].all()
        forever = Limits(10.0**6, 10.0**6)
        endless = request("while True: pass", Run(), limits=forever)
        write_frame(process.stdin.write, *endless.pack())
        process.stdin.close()
        process.popen.stdin = None
        assert process.ended() == 0


# --- the values it keeps


def numbered(number: int) -> Values:
    return Values(f"values-{number}", {"values": {"x": torch.full((3,), float(number))}})


def test_values_are_sent_once_and_kept(process: Process) -> None:
    for _ in range(3):
        said = process.ask(request("x += 1\na = x"))
        assert [result.tensors["a"].tolist() for result in said.results] == [[2.0] * 3] * 2


@needs_fork
def test_the_latest_values_are_kept_and_older_ones_gone(process: Process) -> None:
    for number in range(MOST_VALUES + 1):
        process.hand(numbered(number))
    for number in range(1, MOST_VALUES + 1):
        said = process.ask(request("a = x", Run(), values=numbered(number)))
        assert said.results[0].tensors["a"].tolist() == [float(number)] * 3
    # The first made room: its child ends before any statement, and nobody is to blame.
    said = process.ask(request("a = x", Run(), values=numbered(0)))
    assert (said.results, said.deadly) == ([], {})
    process.hand(numbered(0))
    said = process.ask(request("a = x", Run(), values=numbered(0)))
    assert said.results[0].tensors["a"].tolist() == [0.0] * 3
    process.hand(VALUES)


def test_values_with_a_key_that_is_known_take_the_others_place(process: Process) -> None:
    process.hand(replace(numbered(5), key="known"))
    process.hand(replace(numbered(6), key="known"))
    said = process.ask(request("a = x", Run(), values=replace(numbered(5), key="known")))
    assert said.results[0].tensors["a"].tolist() == [6.0] * 3


def test_groups_of_one_request_are_not_kept(process: Process) -> None:
    extra = {"mine": {"y": torch.full((3,), 4.0)}}
    run = Run(groups=("values", "mine"))
    said = process.ask(request("a = x + y", run, extra=extra))
    assert said.results[0].tensors["a"].tolist() == [5.0] * 3
    again = process.ask(request("a = x + y", run))
    # No such group: the child ends before any statement.
    assert (again.results, again.deadly) == ([], {})


# --- one answer after the other


@needs_fork
def test_an_answer_leaves_nothing_for_the_next(process: Process) -> None:
    source = "import builtins\nbuiltins.left = torch.left = 7\nx.zero_()\nmath.pi = 3\na = x"
    assert not process.ask(request(source)).results[0].problems
    peek = "import builtins\na = x * (hasattr(builtins, 'left') + hasattr(torch, 'left') + math.pi)"
    for result in process.ask(request(peek)).results:
        assert result.tensors["a"].tolist() == pytest.approx([3.14159265] * 3)


@needs_fork
def test_a_child_that_dies_costs_the_worker_nothing(process: Process) -> None:
    said = process.ask(request("import os\nos._exit(9)\na = x"))
    assert said.deadly == {1: "ended the Python process that ran it"}
    assert [bool(result.tensors) for result in said.results] == [True, True]
    assert process.ask(request("a = x")).deadly == {}


@needs_fork
def test_the_engine_is_off_for_good(process: Process) -> None:
    source = (
        "w = torch.ones(3, requires_grad=True)\n"
        "a = torch.autograd.grad((w * w).sum(), w)[0]\n"
        "(w * w).sum().backward()\na = w.grad"
    )
    for result in process.ask(request(source)).results:
        assert not result.tensors
        assert result.problems


@needs_fork
@pytest.mark.parametrize(
    "source",
    [
        "try: x.backward()\nexcept RuntimeError: raise ValueError('no')",
        "try: x.backward()\nexcept RuntimeError as error: raise KeyError from error",
    ],
)
def test_what_hides_a_refusal_of_the_engine_is_reported_as_one(
    process: Process, source: str
) -> None:
    for result in process.ask(request(source)).results:
        assert [problem.message for problem in result.problems] == [REFUSED]


# --- the judge's machine


@pytest.mark.parametrize(
    "module", ["main", "child", "execution", "engine", "job", "forced", "run_job"]
)
def test_importing_needs_no_module_that_windows_lacks(
    module: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("resource", "fcntl", "pwd", "grp", "termios"):
        monkeypatch.setitem(sys.modules, name, None)
    runpy.run_path(str(Path(grader.worker.main.__file__).with_name(f"{module}.py")))
    runpy.run_path(grader.execution.runner.__file__)


@pytest.mark.slow
def test_the_worker_imports_nothing_of_the_judges() -> None:
    """Inside the sandbox there is nothing else of the grader."""
    code = (
        "import sys, grader.worker.main\n"
        "own = [m for m in sys.modules if m.startswith('grader.') and '.worker' not in m]\n"
        "print(*own)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=Path(grader.worker.main.__file__).parents[2],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "\n")
