"""`grader watch`: a board that follows a notebook from save to save."""

from __future__ import annotations

import itertools
import signal
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from types import FrameType

import click

from grader.answer.parse import AnswerCell
from grader.commands import exit_codes
from grader.commands.course import course_option
from grader.commands.options import PathTo, limits, timeout_option
from grader.commands.speech import waiting_for
from grader.notebook.state import remember_report
from grader.program.course import Course
from grader.submission.answer_cells import which_notebook
from grader.submission.notebook_file import read_cells
from grader.submission.which_course import course_for
from grader.verdict import Report


@click.command()
@click.argument("notebook", metavar="NOTEBOOK", type=PathTo())
@course_option
@timeout_option
def watch(notebook: Path, course: str | None, timeout: float | None) -> int:
    """Check NOTEBOOK again whenever it is saved, until Ctrl-C.

    On a terminal this is a board that shows what passes, what does not and why, and what the last
    save changed. Elsewhere it is a few lines for each check. Only saved files can be seen: save
    after each answer, from JupyterLab, VS Code or any editor.

    The exit code is 0 once you stop it, and 2 if the file cannot be read as one of the course's
    notebooks to begin with.
    """
    cells, own = read_cells(notebook), course_for(course, notebook)
    which_notebook(notebook, cells, own.notebook_of)
    told = Told()
    with exit_codes.on_end_signals(told.end):
        try:
            _follow(notebook, own, timeout, told)
        except KeyboardInterrupt:
            pass
        except Exception:
            # An interrupt amid an import, or in a callback, arrives here as another exception.
            if told.exit_code is None:
                raise
    return told.exit_code or exit_codes.PASSED


class Told:
    """Remembers that a signal told this program to end: the exit code, which is 0 after Ctrl-C."""

    exit_code: int | None = None
    not_now = False
    """True as long as the end has to wait."""

    def end(self, number: int, _: FrameType | None) -> None:
        """Handle the first signal: end at once, or remember it."""
        if self.exit_code is None:
            self.exit_code = exit_codes.PASSED if number == signal.SIGINT else 128 + number
            if not self.not_now:
                raise KeyboardInterrupt


def _follow(notebook: Path, course: Course, timeout: float | None, told: Told) -> None:
    from grader.execution.runner import Runner
    from grader.execution.sandbox import best_sandbox

    with Runner(limits(timeout), best_sandbox()) as runner:
        with waiting_for(notebook):  # the worker imports torch meanwhile, and so does this process
            from grader.commands.watching import display, file_changes, follow
            from grader.grading.grade import Regrader
            from grader.program.exercises import exercises_of

        regrader = Regrader(runner)

        def grade(name: str, cells: Sequence[AnswerCell]) -> Report:
            report = regrader.grade(exercises_of(course, name), cells)
            remember_report(report, course)
            return report

        saves = itertools.chain([True], file_changes(notebook.absolute()))
        with ExitStack() as stack:
            told.not_now = True  # half a change of screens could not be taken back
            show = stack.enter_context(display(notebook))
            told.not_now = False
            for board in follow(notebook, course, grade, saves):
                if told.exit_code is not None:  # the exception was taken for another one
                    return
                show(board)
