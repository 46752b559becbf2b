"""The worker's protocol: children that die, hang or send nonsense, and pipes of one's own."""

import json
import os
import runpy
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from grader import worker
from grader.execution import Request, RunOrder
from grader.runner import BOOTSTRAP, Limits, Runner, WorkerLost, _read_reply, _start_worker
from grader.worker import DONE, EVENT, FINISHED, LARGEST_RESULT, STARTED, Gone, Progress

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork on Windows")

RUN = RunOrder(("values",), frozenset(range(9)), ("a",), (), False, {})
REQUEST = Request(
    (("ex0-cell", "a = x + 1"),), {"values": {"x": torch.ones(3)}}, (RUN, RUN), 0.2, 5.0, 2**30
)


def answer(source: str, **changes: object) -> Progress:
    fields: dict[str, object] = {"cells": (("ex0-cell", source),), "statement_seconds": 5.0}
    return worker._answer(replace(REQUEST, **(fields | changes)).pack())  # type: ignore[arg-type]


def listen(sent: bytes, *, closed: bool = True) -> Progress:
    """What the worker makes of a child that sends these bytes."""
    reading, writing = os.pipe()
    progress = Progress()
    try:
        os.write(writing, sent)
        if closed:
            os.close(writing)
        worker._listen(reading, REQUEST, progress, time.monotonic() + 0.3)
    finally:
        os.close(reading)
        if not closed:
            os.close(writing)
    return progress


# --- what a child may send


def test_events_are_kept_as_results() -> None:
    progress = listen(
        EVENT.pack(STARTED, 0, 4, 0)
        + EVENT.pack(FINISHED, 0, 0, 3)
        + b"abc"
        + EVENT.pack(STARTED, 1, 7, 0)
        + EVENT.pack(FINISHED, 1, 0, 0)
        + EVENT.pack(DONE, 0, 0, 0)
    )
    assert progress.results == {0: b"abc", 1: b""}
    assert progress.current is None


ENDED, NONSENSE = "ended the Python process that ran it", "sent back what no gradient can be"


@pytest.mark.skipif(sys.platform == "win32", reason="select knows no pipes on Windows")
@pytest.mark.parametrize(
    ("sent", "how"),
    [
        (b"", ENDED),
        (b"nonsense", ENDED),
        (b"nonsense, and more than an event of it", NONSENSE),
        (EVENT.pack(STARTED, 0, 4, 0)[:-1], ENDED),
        (EVENT.pack(FINISHED, 0, 0, 10) + b"half", ENDED),
        (EVENT.pack(FINISHED, 0, 0, LARGEST_RESULT + 1), NONSENSE),
        (EVENT.pack(FINISHED, 0, 0, 2**64 - 1), NONSENSE),
        (EVENT.pack(FINISHED, 2, 0, 0), NONSENSE),
        (EVENT.pack(FINISHED, 2**32 - 1, 0, 0), NONSENSE),
        (EVENT.pack(b"x", 0, 0, 0), NONSENSE),
        (b"\x00" * EVENT.size, NONSENSE),
    ],
)
def test_a_child_that_ends_or_sends_nonsense_is_gone(sent: bytes, how: str) -> None:
    with pytest.raises(Gone, match=how):
        listen(EVENT.pack(STARTED, 0, 4, 0) + sent)


@pytest.mark.skipif(sys.platform == "win32", reason="select knows no pipes on Windows")
@pytest.mark.parametrize("sent", [b"", b"half an", EVENT.pack(FINISHED, 0, 0, 10) + b"half"])
def test_a_child_that_falls_silent_is_gone(sent: bytes) -> None:
    with pytest.raises(Gone, match=r"did not end within 0\.2 seconds"):
        listen(sent, closed=False)


# --- whole requests


def test_an_answer_gives_a_result_for_every_run() -> None:
    assert sorted(answer("a = x + 1").results) == [0, 1]


@needs_fork
def test_what_ends_its_process_is_left_out_and_the_rest_runs() -> None:
    progress = answer("import os\nos._exit(3)\na = x")
    assert sorted(progress.results) == [0, 1]
    assert progress.deadly == {1: ENDED}


@needs_fork
def test_nonsense_in_the_childs_own_pipe_is_blamed_on_its_statement() -> None:
    scribble = (
        "import os\n"
        "for fd in range(3, 200):\n"
        "    try: os.write(fd, b'nonsense' * 9)\n"
        "    except OSError: pass\n"
        "a = x"
    )
    progress = answer(scribble)
    assert progress.deadly == {1: NONSENSE}
    assert sorted(progress.results) == [0, 1]


@needs_fork
def test_a_child_that_dies_again_and_again_is_given_up() -> None:
    progress = answer("import os\n" + "os._exit(1)\n" * (worker.MOST_CHILDREN + 5))
    assert len(progress.deadly) == worker.MOST_CHILDREN
    assert not progress.results


@needs_fork
def test_a_group_that_macos_does_not_let_us_kill_is_reaped(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(group: int, sign: int) -> None:
        raise PermissionError("macOS says so of a group whose only process has ended")

    monkeypatch.setattr(os, "killpg", refuse)
    assert sorted(answer("a = x").results) == [0, 1]


@pytest.mark.parametrize(("memory", "lowered"), [(2**20, True), (2**45, False)])
def test_a_lower_limit_of_the_machine_stays(
    memory: int, lowered: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Raising a hard limit is forbidden: a child that tried would die before its first line."""
    resource = pytest.importorskip("resource")
    if not Path("/proc/self/statm").exists():
        pytest.skip("without /proc no memory limit is set")
    changed = []
    monkeypatch.setattr(resource, "getrlimit", lambda _: (2**44, 2**44))
    monkeypatch.setattr(resource, "setrlimit", lambda which, _: changed.append(which))
    worker._limit_resources(memory)
    assert (resource.RLIMIT_AS in changed) is lowered


def test_without_fork_the_worker_runs_the_answer_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """Windows has no fork and no interval timer."""
    monkeypatch.delattr(os, "fork", raising=False)
    monkeypatch.delattr(signal, "setitimer", raising=False)
    progress = answer("b = 1 / 0\na = x + 1")
    assert sorted(progress.results) == [0, 1]
    assert b"ZeroDivisionError" in progress.results[0]


@pytest.mark.parametrize("module", ["worker.py", "runner.py", "execution.py", "engine.py"])
def test_importing_needs_no_module_that_windows_lacks(
    module: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("resource", "fcntl", "pwd", "grp", "termios"):
        monkeypatch.setitem(sys.modules, name, None)
    runpy.run_path(str(Path(worker.__file__).with_name(module)))


# --- the process itself


@pytest.fixture(scope="module")
def process() -> Iterator[subprocess.Popen[bytes]]:
    started = _start_worker()
    yield started
    started.kill()
    started.communicate()


def ask(process: subprocess.Popen[bytes], source: str) -> dict[int, bytes]:
    assert process.stdin is not None
    assert process.stdout is not None
    cells = (("ex0-cell", source),)
    payload = replace(REQUEST, cells=cells, statement_seconds=5.0).pack()
    process.stdin.write(struct.pack("<Q", len(payload)) + payload)
    process.stdin.flush()
    return _read_reply(process.stdout)


@pytest.mark.parametrize(
    "source",
    [
        "import os\nos.write(1, b'x' * 100)\na = x",
        "import sys\nsys.__stdout__.write('x' * 100)\na = x",
        "a = input()",
        # A reply of one's own in every pipe there is: the next request's, if it got through.
        "import os, struct\n"
        "reply = struct.pack('<QQ', 20, 12) + b'{\"runs\": []}'\n"
        "for fd in range(200):\n"
        "    try: os.write(fd, reply)\n"
        "    except OSError: pass\n"
        "a = x",
    ],
)
def test_an_answer_does_not_reach_the_judges_pipes(
    process: subprocess.Popen[bytes], source: str
) -> None:
    assert sorted(ask(process, source)) == [0, 1]
    assert b"ZeroDivisionError" in ask(process, "a = 1 / 0")[1]


def test_requests_end_with_standard_input() -> None:
    """Half a frame's length is no request."""
    root = str(Path(worker.__file__).parents[1])
    command = [sys.executable, "-P", "-c", BOOTSTRAP, root]
    done = subprocess.run(command, input=b"\x00\x00", capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (0, b"")


@needs_fork
def test_the_stop_button_does_not_end_the_worker(process: subprocess.Popen[bytes]) -> None:
    """An interrupt goes to the kernel's whole process group, in which the worker is not."""
    assert os.getpgid(process.pid) != os.getpgid(os.getpid())


def test_an_interrupted_request_leaves_no_reply_for_the_next(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    slow = replace(REQUEST, cells=(("ex0-cell", "import time; time.sleep(0.5)\na = 1 / 0"),))
    with Runner(Limits(statement_seconds=5.0)) as runner:
        first = runner._worker

        def interrupted(stream: object) -> dict[int, bytes]:
            raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr("grader.runner._read_reply", interrupted)
            with pytest.raises(KeyboardInterrupt):
                runner.run(slow.pack())
        results = runner.run(REQUEST.pack())
        assert b"ZeroDivisionError" not in results[0]
        assert first.poll() is not None


@pytest.mark.parametrize(
    "reply",
    [
        b"",
        b"\x01",
        struct.pack("<Q", 2**40),
        struct.pack("<Q", 100) + b"half",
        struct.pack("<QQ", 8 + 4, 4) + b"junk",
        struct.pack("<QQ", 8 + 2, 2) + b"{}",
        struct.pack("<Q", 2) + b"{}",
        struct.pack("<QQ", 8 + 13, 13) + json.dumps({"runs": [[]]}).encode(),
        struct.pack("<QQ", 8 + 11, 11) + json.dumps({"runs": 1}).encode(),
    ],
)
def test_a_reply_that_is_none_is_a_sentence(reply: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    def impostor() -> subprocess.Popen[bytes]:
        code = f"import sys; sys.stdin.buffer.read(8); sys.stdout.buffer.write({reply!r})"
        return subprocess.Popen(
            [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )

    monkeypatch.setattr("grader.runner._start_worker", impostor)
    with Runner() as runner, pytest.raises(WorkerLost, match="The process that runs answers ended"):
        runner.run(b"a request")
