"""`grader status`: how far the whole course is."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from grader.commands import exit_codes
from grader.commands.check import judging
from grader.commands.course import course_option
from grader.commands.options import PathTo, limits, timeout_option
from grader.commands.speech import complain, has_colour, say, terminal_width, waiting_for
from grader.printable import printable
from grader.submission.blank_cells import read_blank_cells
from grader.submission.course_files import find_course_files, where_looked
from grader.submission.which_course import course_for

if TYPE_CHECKING:
    from grader.reports.result import Result


@click.command()
@click.argument("places", nargs=-1, metavar="[FOLDER|NOTEBOOK]...", type=PathTo())
@course_option
@timeout_option
def status(places: Sequence[Path], course: str | None, timeout: float | None) -> int:
    """Say how far you are in every notebook, and what is next.

    Looks for the notebooks of the course in each FOLDER, by default the current one, and in its
    subfolder notebooks; by what is in the files, whatever their names are. Files saved by
    `grader reset` do not count.

    The exit code is 0 whatever the verdicts are, and 2 if a file cannot be read or graded.
    """
    places = places or (Path(),)
    own = course_for(course, places[0])
    files = find_course_files(places, own.notebook_of)
    for sentence in files.unreadable:
        complain(sentence)
    if not files.chosen:
        if looked := where_looked(places):
            complain(
                " ".join([f"There is no notebook of the course in {looked}.", *files.strangers])
            )
        return exit_codes.UNREADABLE if files.unreadable or not looked else exit_codes.PASSED

    results: dict[str, Result | None] = dict.fromkeys(own.notebooks)
    from grader.execution.sandbox import best_sandbox

    with judging(limits(timeout), best_sandbox()) as grade_file:
        for notebook in own.notebooks:
            if path := files.chosen.get(notebook):
                with waiting_for(path):
                    results[notebook] = grade_file(path, own)
    from grader.reports import terminal
    from grader.reports.result import Ungraded

    ungraded = [result for result in results.values() if isinstance(result, Ungraded)]
    for result in ungraded:
        complain(result.sentence)
    blanks = read_blank_cells(own)
    say(terminal.render_status(results, blanks, width=terminal_width(), colour=has_colour()))
    if files.others:
        others = ", ".join(printable(str(path)) for path in files.others)
        complain(f"Not counted, since the course has each notebook once: {others}.")
    return exit_codes.UNREADABLE if files.unreadable or ungraded else exit_codes.PASSED
