"""A notebook that is watched: when it is saved, what each check found, where that is shown."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import watchfiles
from rich.console import Console
from rich.live import Live
from rich.text import Text

from grader.answer.parse import AnswerCell
from grader.commands.speech import has_colour, own_failure, say, terminal_width
from grader.printable import printable
from grader.program.course import Course
from grader.reports.result import complete
from grader.reports.watch_board import (
    Changes,
    WatchBoard,
    render_block,
    render_board,
    render_farewell,
)
from grader.submission.notebook_file import UnreadableNotebook, shown
from grader.submission.read import Submission, read_submission
from grader.user_error import UserError
from grader.verdict import Outcome, Report

STEP_MILLISECONDS = 15
"""How long a file is to be left alone before it is read: an editor writes in several steps."""
DEBOUNCE_MILLISECONDS = 100
"""How long to wait at most while it goes on changing."""
TICK_MILLISECONDS = 500
"""How often to look where no change is announced, as on some network drives."""

Show = Callable[[WatchBoard], None]
"""Shows a board, if it is another one than before, or is to be drawn another way."""


def file_changes(path: Path, stop: threading.Event | None = None) -> Iterator[bool]:
    """Yield True after each change of the file, and False every half second.

    The folder is watched, not the file: many programs save by putting a new file in the place of
    the old one. The file, even the folder, may go and come back.
    """
    stop = stop or threading.Event()
    names = {path.name, path.resolve().name}
    while not stop.is_set():
        folders = {path.parent, path.resolve().parent}  # another one where the path is a link
        before = _identities(folders)
        # No folder at the moment; or the system cannot watch one more, or not this one.
        with suppress(OSError):
            for changes in watchfiles.watch(
                *folders,
                watch_filter=lambda _, changed: Path(changed).name in names,
                debounce=DEBOUNCE_MILLISECONDS,
                step=STEP_MILLISECONDS,
                rust_timeout=TICK_MILLISECONDS,
                yield_on_timeout=True,
                recursive=False,
                stop_event=stop,
            ):
                yield bool(changes)
                if _identities(folders) != before:
                    break
        time.sleep(STEP_MILLISECONDS / 1000)
        yield False


def _identities(folders: set[Path]) -> list[tuple[int, ...]]:
    return [_signature(folder)[:2] for folder in sorted(folders)]


def follow(
    path: Path,
    course: Course,
    grade: Callable[[str, Sequence[AnswerCell]], Report],
    saves: Iterable[bool],
    now: Callable[[], datetime] = datetime.now,
) -> Iterator[WatchBoard]:
    """Yield a notebook's board: while its answers are checked, and after every look at the file.

    Args:
        path: the notebook's file.
        course: the one it belongs to.
        grade: judges the answer cells of a notebook, given with its name.
        saves: when to look. At True the file is read, at False only if it looks other than before.
        now: the time of day.
    """
    board, seen, graded = WatchBoard(path), None, None
    for saved in saves:
        signature = _signature(path)
        another, seen = signature != seen, signature
        if saved or another:
            try:
                submission = read_submission(path, course)
            except UnreadableNotebook as error:
                trouble = f"Waiting for a whole file: {error}"
                if not signature:
                    trouble = f"{shown(path)} is not there at the moment: waiting for it."
                board = replace(board, trouble=trouble)
            else:
                verdicts = board.report.verdicts if board.report else ()
                has_error = any(verdict.outcome is Outcome.ERROR for verdict in verdicts)
                if submission != graded or has_error:
                    board = replace(board, trouble="", checking=True)
                    yield board
                    try:
                        board = _checked(board, submission, course, grade, now)
                        graded = submission
                    except Exception as error:  # the next save may fare better
                        is_said = isinstance(error, UserError)
                        trouble = str(error) if is_said else own_failure(str(path), error)
                        board, graded = replace(board, trouble=trouble, checking=False), None
                elif another:  # a save is often announced more than once
                    board = replace(board, trouble="", saved=now())
        yield board


def _checked(
    board: WatchBoard,
    submission: Submission,
    course: Course,
    grade: Callable[[str, Sequence[AnswerCell]], Report],
    now: Callable[[], datetime],
) -> WatchBoard:
    # Here, not above: the worker is to be started before torch is imported.
    from grader.program.exercises import exercises_of

    start = time.perf_counter()
    report = grade(submission.notebook, submission.cells)
    report = complete(submission, report, exercises_of(course, submission.notebook))
    return WatchBoard(
        path=board.path,
        report=report,
        changes=changed(board.report, report) if board.report else {},
        checked=now(),
        seconds=time.perf_counter() - start,
    )


def changed(before: Report, after: Report) -> Changes:
    """What became of the gradients whose verdict is not what it was, in the exercise's order."""
    if before.notebook != after.notebook:
        return {}
    was = {verdict.name: verdict.outcome for verdict in before.verdicts}
    moved = [v for v in after.verdicts if was.get(v.name) is not v.outcome]
    return {
        outcome: names
        for outcome in Outcome
        if (names := tuple(verdict.name for verdict in moved if verdict.outcome is outcome))
    }


def _signature(path: Path) -> tuple[int, ...]:
    """What tells two saves apart without reading the file; empty where there is no file."""
    try:
        status = path.stat()
    except (OSError, ValueError):
        return ()
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


def display(path: Path) -> AbstractContextManager[Show]:
    """Show boards of a notebook on what standard output is connected to; leave it in good order."""
    is_terminal = sys.stdout.isatty() and os.environ.get("TERM", "dumb") != "dumb"
    board = WatchBoard(path)
    return _screen(board) if is_terminal else _lines(board)


@contextmanager
def _screen(board: WatchBoard) -> Iterator[Show]:
    """A terminal's second screen; the first one comes back as it was, with the last result."""
    colour = has_colour()
    console = Console(color_system="standard" if colour else None, no_color=not colour)
    live = Live(
        console=console,
        screen=True,
        auto_refresh=False,
        redirect_stdout=False,
        redirect_stderr=False,
    )
    last, drawn = board, None

    def show(board: WatchBoard) -> None:
        nonlocal last, drawn
        last = board
        width, height = console.size
        if (board, width, height) != drawn:
            lines = render_board(board, width, height)
            live.update(Text("\n").join(lines), refresh=True)
            drawn = board, width, height

    try:
        live.start()
        show(board)
        yield show
    finally:
        with suppress(OSError):  # the terminal may be closed
            live.stop()
            say(render_farewell(last, terminal_width()))


@contextmanager
def _lines(board: WatchBoard) -> Iterator[Show]:
    """A pipe, a file or a terminal that can do no more: a block of lines for each check."""
    last = board

    def show(board: WatchBoard) -> None:
        nonlocal last
        if board.checking or board == last:
            return
        before, last = last, board
        if not board.trouble:
            say(f"\n{render_block(board, terminal_width())}")
        elif board.trouble != before.trouble:
            say(f"\n{printable(board.trouble)}\n")

    say(f"watching {printable(str(board.path))}: Ctrl-C to stop\n")
    yield show
