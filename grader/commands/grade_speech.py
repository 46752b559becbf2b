"""What `grader grade` says: while it is at work, and when it has ended."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

from grader.commands.speech import complain, has_colour, say

if TYPE_CHECKING:
    from grader.bulk.display import Show
    from grader.bulk.settings import Settings
    from grader.bulk.tally import Tally
    from grader.intake import ClassFolder


def display(quiet: bool) -> AbstractContextManager[Show]:
    from grader.bulk.display import bar_on, lines_to

    if quiet:
        return nullcontext(lambda tally: None)
    if not sys.stdout.isatty():
        return nullcontext(lines_to(lambda line: say(line + "\n")))
    from rich.console import Console

    return bar_on(Console(no_color=not has_colour()))


def writing(quiet: bool) -> AbstractContextManager[object]:
    """A word on the terminal while the pages of a large class are written."""
    if quiet or not sys.stdout.isatty():
        return nullcontext()
    from rich.console import Console

    return Console(no_color=not has_colour()).status("writing the gradebook")


def say_stopped(tally: Tally) -> None:
    complain(
        f"Stopped: {tally.done:,} of {tally.total:,} files are done, and kept. The same command "
        "goes on from there."
    )


def summary(settings: Settings, class_folder: ClassFolder, tally: Tally, seconds: float) -> str:
    from grader.bulk.display import as_clock, counts

    present = {item.student for item in class_folder.handed_in}
    missing = sum(student.id not in present for student in class_folder.students)
    lines = [f"{_count(tally.total, 'file')} of {_count(len(class_folder.students), 'student')}: "]
    lines[0] += counts(tally) + "."
    if tally.unreadable:
        lines.append(
            f"{_count(tally.unreadable, 'file')} could not be graded: the report says why."
        )
    if missing:
        lines.append(f"{_count(missing, 'student')} handed in nothing.")
    if tally.kept:
        lines.append(f"{_count(tally.kept, 'file')} had been graded by an earlier run.")
    if tally.fresh:
        rate = f", {tally.fresh / seconds:.1f} a second" if tally.fresh > 1 else ""
        lines.append(f"{_count(tally.fresh, 'file')} graded in {as_clock(seconds)}{rate}.")
    if settings.sandbox == "none":
        lines.append("Students' code ran without a sandbox.")
    return "\n".join(lines) + "\n"


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"
