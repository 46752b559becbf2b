"""`grader reset`: a notebook's answers back to the blank."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path

import click

from grader.answer.parse import prefix_of
from grader.close_names import nearest
from grader.commands import exit_codes
from grader.commands.course import course_option
from grader.commands.options import PathTo
from grader.commands.speech import complain, say, terminal_width
from grader.notebook.hints import forget
from grader.printable import listed, printable
from grader.program.course import Course
from grader.submission.answer_cells import role_comments, which_notebook
from grader.submission.backup import WouldLoseWork, back_up, refuse_unsafe, replace_file
from grader.submission.blank_cells import FILE, gradients_in, read_blank_cells
from grader.submission.notebook_file import cells_in, read_bytes, shown
from grader.submission.reset import reset_cells
from grader.submission.which_course import course_for
from grader.user_error import UserError

RELOAD = (
    "If the notebook is open, reload it from disk before you save it (in JupyterLab: File, Reload "
    "Notebook from Disk)."
)


@click.command()
@click.argument("path", metavar="NOTEBOOK", type=PathTo())
@click.option(
    "--exercise",
    "exercises",
    multiple=True,
    metavar="ID",
    help="Only this answer cell, such as ex1-tanh, or all of one exercise, such as ex2s; may be "
    "given several times.",
)
@course_option
def reset(path: Path, exercises: Sequence[str], course: str | None) -> int:
    """Put the answer cells of NOTEBOOK back to the blank.

    A copy of the notebook as it was, with the time in its name, is written beside it first. The
    outputs of these cells and their checks go, and the hints asked for are forgotten; your own
    cells and everything else stay as they are. Where no backup can be written, nothing changes.

    The exit code is 0 if that is done, 1 if a cell to be reset is not in the notebook, and 2 if
    nothing was changed because something is in the way.
    """
    refuse_unsafe(path)
    before = read_bytes(path)
    cells = cells_in(before, path)
    own = course_for(course, path)
    name = which_notebook(path, cells, own.notebook_of)
    blanks = read_blank_cells(own)
    if name not in blanks:
        raise UserError(
            f"{shown(own.folder / FILE)} does not say what is blank in {name}: "
            f"`grader build {shown(own.folder)}` writes it."
        )
    wanted = choose(exercises, blanks[name], name)
    done = reset_cells(before.decode("utf-8"), cells, wanted)
    if done.changed:
        backup = back_up(path, before, datetime.now())
        try:
            replace_file(path, before, done.text.encode("utf-8"))
        except WouldLoseWork as error:
            raise WouldLoseWork(f"{error} The backup is there: {shown(backup)}") from error
        say(_fill(f"Back to the blank: {', '.join(done.changed)}."))
        say(f"As it was before: {shown(backup)}\n")
        say(_fill(RELOAD))
    elif not done.missing:
        say(f"{shown(path)} is blank there already: nothing was changed.\n")
    if trouble := _forget_hints(own, wanted):
        complain(printable(trouble))
    if done.missing:
        complain(
            f"{', '.join(done.missing)} is no code cell of {shown(path)} any more: "
            "take it from a fresh copy of the notebook."
        )
        return exit_codes.NOT_PASSED
    return exit_codes.PASSED


def _fill(text: str) -> str:
    return textwrap.fill(text, max(20, min(terminal_width(), 100)), break_on_hyphens=False) + "\n"


def choose(exercises: Sequence[str], blanks: Mapping[str, str], name: str) -> dict[str, str]:
    """The blanks of the cells that are meant, all of them where none is named.

    Raises:
        UserError: the notebook `name` has no such cell; the message is a sentence.
    """
    if not exercises:
        return dict(blanks)
    chosen: dict[str, str] = {}
    for exercise in exercises:
        found = {
            grade_id: text
            for grade_id, text in blanks.items()
            if exercise in (grade_id, prefix_of(grade_id))
        }
        if not found:
            prefixes = list(dict.fromkeys(prefix_of(grade_id) for grade_id in blanks))
            close = nearest(exercise, [*blanks, *prefixes])
            guess = f" Did you mean {listed(close, 'or')}?" if close else ""
            raise UserError(
                f"{name} has no answer cell {printable(exercise)}.{guess} It has "
                f"{', '.join(blanks)}, and all of {listed(prefixes, 'or')} can be named at once."
            )
        chosen |= found
    return chosen


def _forget_hints(course: Course, blanks: Mapping[str, str]) -> str:
    """A sentence where that is not possible, or ""."""
    troubles = [
        forget(course, prefix_of(grade_id), gradients_in(text))
        for grade_id, text in blanks.items()
        if ("answer", grade_id) in role_comments(text)
    ]
    return next(filter(None, troubles), "")
