from __future__ import annotations

import json
import os
import re
import select
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from corpus.readers.lecture_course import COURSE, NOTEBOOKS
from grader import cli
from grader.answer.parse import AnswerCell
from grader.commands import exit_codes
from grader.commands.watching import changed, follow
from grader.reports.watch_board import WatchBoard
from grader.verdict import Check, Comparison, Flag, Outcome, Report, Verdict
from tests.helpers.course_notebooks import FIRST, dump, right_cells, with_answers

GRADIENTS = NOTEBOOKS["01_atomic_backprop"][0].gradients


def report(notebook: str = "01_atomic_backprop", **outcomes: str) -> Report:
    def verdict(name: str, outcome: str) -> Verdict:
        nothing = Comparison(name, None, None, None, None, ())
        return Verdict(name, Outcome(outcome), nothing, Check.NOT_RUN, Check.NOT_RUN)

    return Report(notebook, tuple(verdict(*item) for item in outcomes.items()))


class TestChanged:
    def test_by_the_new_verdict(self) -> None:
        before = report(dh="fail", dW2="pass", dC="todo", db2="pass", demb="todo")
        after = report(dh="pass", dW2="fail", dC="pass", db2="pass", demb="todo")
        assert changed(before, after) == {Outcome.PASS: ("dh", "dC"), Outcome.FAIL: ("dW2",)}

    def test_nothing(self) -> None:
        assert changed(report(dh="pass"), report(dh="pass")) == {}

    def test_another_notebook_cannot_be_compared(self) -> None:
        assert changed(report(dh="fail"), report("04_manual_training", dh="pass")) == {}


class Clock:
    """A second later each time."""

    time = datetime(2026, 11, 21, 14, 0, 0)

    def __call__(self) -> datetime:
        self.time += timedelta(seconds=1)
        return self.time


class FakeGrade:
    """Gives the verdict that the first answer cell names."""

    def __init__(self) -> None:
        self.graded: list[str] = []

    def __call__(self, notebook: str, cells: Sequence[AnswerCell]) -> Report:
        word = cells[0].source.partition("\n")[0].removeprefix("# ")
        self.graded.append(word)
        if word == "crash":
            raise RuntimeError("tripped")
        return report(notebook, dh=word)


class Watched:
    """A notebook that is watched, and the ways it can be saved."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.grade = FakeGrade()
        self.save("pass")
        self._saves: list[bool] = []
        self._boards = follow(path, COURSE, self.grade, iter(self._saves.pop, None), Clock())

    def save(self, word: str, **metadata: Any) -> None:
        mentioned = "".join(f"\n{name} = 1" for name in GRADIENTS)
        nbgrader = {"grade_id": "ex1-all", "solution": True}
        cell = {
            "cell_type": "code",
            "metadata": {"nbgrader": nbgrader},
            "source": f"# {word}{mentioned}",
        }
        document = {"nbformat": 4, "metadata": metadata, "cells": [cell]}
        self.path.write_text(json.dumps(document))

    def step(self, saved: bool = True) -> WatchBoard:
        self._saves.append(saved)
        graded = len(self.grade.graded)
        self.board = next(self._boards)
        if self.board.checking:  # it says so before, not after
            assert len(self.grade.graded) == graded
            self.board = next(self._boards)
            assert len(self.grade.graded) == graded + 1
        assert not self.board.checking
        return self.board

    @property
    def outcome(self) -> str:
        assert self.board.report is not None
        return str(self.board.report.verdicts[0].outcome)


@pytest.fixture
def watched(tmp_path: Path) -> Watched:
    return Watched(tmp_path / "mine.ipynb")


class TestWatch:
    def test_the_first_look(self, watched: Watched) -> None:
        board = watched.step()
        assert (watched.outcome, board.changes, board.trouble) == ("pass", {}, "")
        assert board.checked == datetime(2026, 11, 21, 14, 0, 1)
        assert not board.checking

    def test_a_save_with_other_answers(self, watched: Watched) -> None:
        watched.step()
        watched.save("fail")
        assert watched.step().changes == {Outcome.FAIL: ("dh",)}
        watched.save("carried")
        assert watched.step().changes == {Outcome.CARRIED: ("dh",)}
        assert watched.grade.graded == ["pass", "fail", "carried"]

    def test_the_same_answers_are_not_run_again(self, watched: Watched) -> None:
        first = watched.step()
        watched.save("pass", something="else")
        board = watched.step()
        assert board.checked == first.checked
        assert board.saved == datetime(2026, 11, 21, 14, 0, 2)
        assert watched.grade.graded == ["pass"]

    def test_one_save_announced_twice_is_one(self, watched: Watched) -> None:
        first = watched.step()
        assert watched.step() == first

    def test_but_errors_are_tried_again(self, watched: Watched) -> None:
        watched.save("error")
        watched.step()
        watched.save("error", saved="again")
        watched.step()
        assert watched.grade.graded == ["error", "error"]

    def test_a_save_that_nobody_announced(self, watched: Watched) -> None:
        watched.step()
        watched.save("fail", longer="file")
        watched.step(saved=False)
        assert watched.outcome == "fail"

    def test_without_a_save_the_file_is_not_even_read(
        self, watched: Watched, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        watched.step()
        monkeypatch.setattr(
            "grader.commands.watching.read_submission", lambda path: pytest.fail("read")
        )
        board = watched.board
        assert watched.step(saved=False) is board

    def test_half_a_file_keeps_the_last_board(self, watched: Watched) -> None:
        first = watched.step()
        whole = watched.path.read_bytes()
        watched.path.write_bytes(whole[: len(whole) // 2])
        board = watched.step()
        assert board.trouble.startswith("Waiting for a whole file: ")
        assert "breaks off at its end" in board.trouble
        assert board.report == first.report
        watched.path.write_bytes(b"")
        assert "is empty" in watched.step().trouble
        watched.path.write_bytes(whole)
        assert watched.step().trouble == ""
        watched.save("fail")
        watched.step()
        assert watched.outcome == "fail"
        assert watched.grade.graded == ["pass", "fail"]

    def test_a_file_that_is_gone_for_a_while(self, watched: Watched) -> None:
        first = watched.step()
        watched.path.unlink()
        board = watched.step()
        assert board.trouble == f"{watched.path} is not there at the moment: waiting for it."
        assert board.report == first.report
        assert watched.step(saved=False) is board
        watched.save("fail")
        board = watched.step(saved=False)
        assert (board.trouble, watched.outcome) == ("", "fail")

    def test_a_file_that_becomes_something_else(self, watched: Watched) -> None:
        watched.step()
        watched.path.write_text('{"nbformat": 4, "cells": []}')
        assert "is not one of the course's notebooks" in watched.step().trouble

    def test_a_mistake_of_the_graders_own_is_survived(self, watched: Watched) -> None:
        first = watched.step()
        watched.save("crash")
        board = watched.step()
        assert "not through your answers: RuntimeError: tripped" in board.trouble
        assert board.report == first.report
        assert not board.checking
        watched.save("crash", saved="again")
        watched.step()
        watched.save("pass")
        assert watched.step().trouble == ""
        assert watched.grade.graded == ["pass", "crash", "crash", "pass"]

    def test_flags_of_the_file_are_on_the_board(self, watched: Watched) -> None:
        text = watched.path.read_text().replace("dC = 1", "dCC = 1")
        watched.path.write_text(text)
        watched.step()
        report = watched.board.report
        assert report is not None
        flags: Sequence[Flag] = report.flags
        assert [flag.kind for flag in flags] == ["missing-answer"]


# From here on the real thing, in processes of its own.


@pytest.fixture
def notebook(tmp_path: Path, project: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PYTHONPATH", str(project))
    monkeypatch.setenv("COLUMNS", "100")
    for name in ("NO_COLOR", "FORCE_COLOR", "GRADER_DEBUG"):
        monkeypatch.delenv(name, raising=False)
    path = tmp_path / "mine.ipynb"
    path.write_text(solved(), encoding="utf-8")
    return path


def solved(**changed_: str) -> str:
    cells = right_cells() | {name.replace("_", "-"): text for name, text in changed_.items()}
    return dump(with_answers(FIRST, cells))


class Program:
    """`grader watch` with a pipe or a pseudo-terminal for its output."""

    def __init__(self, notebook: Path, terminal: bool) -> None:
        self.ours, theirs = os.openpty() if terminal else os.pipe()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "grader", "watch", str(notebook)],
            stdout=theirs,
            stderr=theirs if terminal else subprocess.PIPE,
            env=os.environ | {"TERM": "xterm", "PYTHONIOENCODING": "utf-8", "LINES": "40"},
        )
        os.close(theirs)
        self.output = ""

    def read_until(self, text: str) -> str:
        """What is said up to and with `text`; it is dropped."""
        while text not in self.output:
            ready, _, _ = select.select([self.ours], [], [], 120)
            assert ready, f"{text!r} was never said, but {self.output!r}"
            part = self._read()
            assert part, f"it ended before {text!r} was said: {self.output!r}"
            self.output += part.decode("utf-8", "replace")
        said, self.output = self.output.split(text, 1)
        return said + text

    def rest(self) -> str:
        while part := self._read():
            self.output += part.decode("utf-8", "replace")
        return self.output

    def _read(self) -> bytes:
        try:
            return os.read(self.ours, 65536)
        except OSError:  # how Linux says that the other end of a terminal is closed
            return b""

    def workers(self) -> list[int]:
        """The processes that it has started."""
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        return [int(child) for child in children.read_text().split()]

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        if self.process.stderr is not None:
            self.process.stderr.close()
        self.close_terminal()

    def close_terminal(self) -> None:
        if self.ours >= 0:
            os.close(self.ours)
        self.ours = -1


@pytest.fixture
def piped(notebook: Path) -> Iterator[Program]:
    program = Program(notebook, terminal=False)
    yield program
    program.close()


@pytest.fixture
def on_terminal(notebook: Path) -> Iterator[Program]:
    if not hasattr(os, "openpty"):
        pytest.skip("needs pseudo-terminals")
    program = Program(notebook, terminal=True)
    yield program
    program.close()


def is_running(process: int) -> bool:
    try:
        status = Path(f"/proc/{process}/stat").read_text()
    except FileNotFoundError:
        return False
    return status.rpartition(")")[2].split()[0] != "Z"


class TestProgram:
    @pytest.mark.slow
    def test_from_save_to_save(self, notebook: Path, piped: Program) -> None:
        first = piped.read_until("All 26 gradients pass.\n")
        assert first.startswith(
            f"watching {notebook}: Ctrl-C to stop\n\n01_atomic_backprop  checked"
        )
        assert "26 of 26 points   ✓ 26 pass" in first

        # one fault
        notebook.write_text(solved(ex1_tanh="# answer: ex1-tanh\ndhpreact = dh"), encoding="utf-8")
        second = piped.read_until("Right by itself; what it was handed is not: see dhpreact.\n")
        assert "✗ now fail: dhpreact" in second
        assert "│ dhpreact = dh\n" in second

        # half a file, then it is gone, then a cell that Python cannot read
        notebook.write_text(solved()[:5000], encoding="utf-8")
        piped.read_until("Waiting for a whole file: ")
        notebook.unlink()
        piped.read_until("is not there at the moment: waiting for it.\n")
        new = notebook.with_name("new")
        new.write_text(solved(ex1_tanh="dhpreact = (dh"), encoding="utf-8")
        new.replace(notebook)
        broken = piped.read_until("'(' was never closed.")
        assert "! now error: dhpreact" in broken

        # the worker is lost, a save later all is well
        (worker,) = piped.workers()
        os.kill(worker, signal.SIGKILL)
        notebook.write_text(solved(), encoding="utf-8")
        assert "now pass: " in piped.read_until("All 26 gradients pass.\n")
        (worker,) = piped.workers()

        piped.process.send_signal(signal.SIGINT)
        assert piped.process.wait(600) == exit_codes.PASSED
        assert piped.rest() == ""
        assert piped.process.stderr is not None
        assert piped.process.stderr.read() == b""
        assert not is_running(worker)

    def test_a_terminal_is_left_as_it_was(self, notebook: Path, on_terminal: Program) -> None:
        assert on_terminal.read_until("\x1b[?1049h").count("\n") <= 1
        on_terminal.read_until("All 26 gradients pass.")
        notebook.write_text(solved(ex1_tanh="dhpreact = dh"), encoding="utf-8")
        on_terminal.read_until("since the last check:")
        on_terminal.read_until("dC")
        on_terminal.process.send_signal(signal.SIGINT)
        rest = on_terminal.rest()
        assert on_terminal.process.wait(600) == exit_codes.PASSED
        _, _, after = rest.partition("\x1b[?1049l")
        assert "\x1b[?25h" in rest, "the cursor is visible again"
        assert rest.rfind("\x1b[?25h") > rest.rfind("\x1b[?25l")
        assert "Traceback" not in rest
        assert re.search(r"01_atomic_backprop  checked \d\d:\d\d:\d\d", after)
        assert "1 fail" in after
        assert "\x1b[?1049h" not in after

    def test_a_closed_terminal_leaves_no_worker(self, on_terminal: Program) -> None:
        on_terminal.read_until("\x1b[?1049h")
        (worker,) = on_terminal.workers()
        on_terminal.close_terminal()
        on_terminal.process.send_signal(signal.SIGHUP)
        on_terminal.process.wait(600)
        assert not is_running(worker)

    @pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP", "SIGINT"])
    def test_it_ends_in_good_order_at_any_moment(self, name: str, on_terminal: Program) -> None:
        on_terminal.read_until("\x1b[?1049h")
        (worker,) = on_terminal.workers()
        number = getattr(signal, name)
        on_terminal.process.send_signal(number)
        rest = on_terminal.rest()
        expected = exit_codes.PASSED if name == "SIGINT" else 128 + number
        assert on_terminal.process.wait(600) == expected
        assert "\x1b[?1049l" in rest
        assert "Traceback" not in rest
        assert not is_running(worker)


Capture = pytest.CaptureFixture[str]


def test_what_cannot_be_watched(tmp_path: Path, capsys: Capture) -> None:
    other = tmp_path / "other.ipynb"
    other.write_text('{"nbformat": 4, "cells": []}')
    for path in (tmp_path / "gone.ipynb", tmp_path, other):
        assert cli.main(["watch", str(path)]) == exit_codes.UNREADABLE
    out, err = capsys.readouterr()
    gone, folder, strange = err.splitlines()
    assert gone.startswith("There is no file ")
    assert "is a folder" in folder
    assert "is not one of the course's notebooks" in strange
    assert out == ""


def test_help(capsys: Capture) -> None:
    assert cli.main(["watch", "--help"]) == 0
    assert "whenever it is saved, until Ctrl-C" in capsys.readouterr().out
