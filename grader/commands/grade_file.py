"""One file graded, whatever is wrong with it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from grader.commands.speech import own_failure
from makemore_data.interruption import stop_button

if TYPE_CHECKING:
    from grader.reports.result import Result
    from grader.runner import Runner


def grade_file(path: Path, runner: Runner) -> Result:
    """The report on a notebook, or the sentence why there is none; only Ctrl-C is raised."""
    # Amid an import of torch's Ctrl-C may get lost, where callbacks and C code cannot raise it.
    with stop_button() as pressed:
        # Here, not above: the worker is to be started before torch is imported.
        from grader.grading import grade
        from grader.reports.result import Graded, Ungraded
        from grader.submission import UnreadableNotebook, read_submission
    if pressed():
        raise KeyboardInterrupt

    try:
        submission = read_submission(path)
        report = grade(submission.notebook, submission.cells, runner)
    except UnreadableNotebook as error:
        return Ungraded(path, str(error))
    except Exception as error:  # the other notebooks are graded all the same
        return Ungraded(path, own_failure(str(path), error))
    report = replace(report, flags=(*submission.flags, *report.flags))
    return Graded(path, report, submission.cells)
