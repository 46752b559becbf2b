"""`grader check`: a verdict on every gradient of some notebooks."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from grader.classroom.run.local_pool import LocalPool
from grader.classroom.run.pool import Died
from grader.classroom.run.settings import task_seconds
from grader.commands import exit_codes
from grader.commands.course import course_option
from grader.commands.options import PathTo, limits, report_option, said_by, timeout_option
from grader.commands.speech import (
    complain,
    has_colour,
    own_failure,
    say,
    say_commands,
    terminal_width,
    waiting_for,
)
from grader.printable import printable, without_commands
from grader.reports.result import Result, Ungraded, complete
from grader.submission.which_course import course_for
from grader.user_error import UserError, reason
from grader.verdict import Report
from makemore_data.interruption import uninterrupted

if TYPE_CHECKING:
    from grader.execution.runner import Runner
    from grader.execution.sandbox import Sandbox
    from grader.program.course import Course
    from grader.submission.read import Submission
    from grader.worker.terms import Limits

T = TypeVar("T")

STEP_SUMMARY = "GITHUB_STEP_SUMMARY"
"""The environment variable in which GitHub Actions names the file of a step's summary."""


def _only_on_github(asked: bool) -> bool:
    if asked and not os.environ.get(STEP_SUMMARY):
        raise ValueError(f"{STEP_SUMMARY} is not set: this is not a run of GitHub Actions.")
    return asked


@click.command()
@click.argument("notebooks", nargs=-1, required=True, metavar="NOTEBOOK...", type=PathTo())
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
@report_option("--junitxml", "Also write JUnit XML for continuous integration.")
@report_option("--html", "Also write one self-contained HTML page.")
@click.option(
    "--github",
    is_flag=True,
    callback=said_by(_only_on_github),
    help="Also write the summary of a GitHub Actions run, and the points for GitHub Classroom.",
)
@course_option
@timeout_option
@click.option(
    "--sandbox",
    type=click.Choice(["bwrap", "none"]),
    help="Where answers run: in bwrap, or without (in bwrap where there is one).",
)
def check(
    notebooks: Sequence[Path],
    as_json: bool,
    junitxml: Path | None,
    html: Path | None,
    github: bool,
    course: str | None,
    timeout: float | None,
    sandbox: str | None,
) -> int:
    """Say of each gradient in each NOTEBOOK whether it is right.

    The exit code is 0 if every gradient passes, 1 if not, and 2 if a file cannot be read as one
    of the course's notebooks.
    """
    if as_json and github:
        raise click.UsageError("--json and --github both print to standard output: take one.")
    with uninterrupted():
        from grader.execution.sandbox import Sandbox, best_sandbox, require

        where = Sandbox(sandbox) if sandbox else best_sandbox()
        require(where)
    asked = [(path, course_for(course, path)) for path in notebooks]
    results: list[Result] = []
    courses: list[Course] = []
    with judging(limits(timeout), where) as judge_file:
        for path, own in asked:
            for its_course, result in judge_file(path, own):
                courses.append(its_course)
                results.append(result)
                _show(result, as_json)
    code = _show_all(results, as_json)
    written = _write_reports(results, courses, junitxml, html, github)
    return code if written else exit_codes.UNREADABLE


Judged = Iterator[tuple["Course", Result]]
"""The results of a file, each with its course; a copy of the lecture's notebook has several."""


@contextmanager
def judging(limits: Limits, sandbox: Sandbox) -> Iterator[Callable[[Path, Course], Judged]]:
    """Grade files in a process of their own, so that a file which is too much ends only that."""
    pool = LocalPool(1, partial(_runner, limits, sandbox), task_seconds(limits))

    def apart(path: Path, task: Callable[[], T]) -> T | Ungraded:
        try:
            with waiting_for(path):
                return pool.submit(_explained, path, task).result()
        except Died:
            why = "the process that judged it ended, or needed more than a notebook may"
            return Ungraded(path, f"{printable(str(path))} could not be graded: {why}.")

    def judge_file(path: Path, course: Course) -> Judged:
        read = apart(path, partial(_read, path, course))
        if isinstance(read, Ungraded):
            yield course, read
            return
        for own, submission in read:
            yield own, apart(path, partial(_grade, own, submission, limits, sandbox))

    try:
        yield judge_file
    finally:
        pool.shutdown()


@cache
def _runner(limits: Limits, sandbox: Sandbox) -> Runner:
    """The worker of this process, which is a judge."""
    from grader.execution.runner import Runner

    runner = Runner(limits, sandbox)
    # Imported here, because the worker has to be started before torch is imported.
    import grader.grading.grade  # noqa: F401

    return runner


def _read(path: Path, course: Course) -> Sequence[tuple[Course, Submission]]:
    from grader.submission.read import read_submissions

    return read_submissions(path, course)


def _grade(course: Course, submission: Submission, limits: Limits, sandbox: Sandbox) -> Result:
    from grader.grading.grade import grade
    from grader.program.exercises import exercises_of

    exercises = exercises_of(course, submission.notebook)
    report = grade(exercises, submission.cells, _runner(limits, sandbox))
    return complete(submission, report, exercises)


def _explained(path: Path, task: Callable[[], T]) -> T | Ungraded:
    """Do the task with a file, or say why it cannot be done."""
    try:
        return task()
    except UserError as error:
        return Ungraded(path, str(error))
    except Exception as error:  # the other notebooks are graded all the same
        return Ungraded(path, own_failure(str(path), error))


def _show(result: Result, as_json: bool) -> None:
    """Show a result at once, or say why there is none. JSON waits for all results."""
    if isinstance(result, Ungraded):
        complain(result.sentence)
    elif not as_json:
        with uninterrupted():
            from grader.reports import terminal

        say(terminal.render(result, width=terminal_width(), colour=has_colour()) + "\n")


def _show_all(results: Sequence[Result], as_json: bool) -> int:
    """Show what had to wait for all results, and return the exit code."""
    from grader.reports import as_json as json_report
    from grader.reports import terminal

    if as_json:
        say(json_report.render(results))
    elif len(results) > 1:
        say(terminal.render_overview(results, width=terminal_width(), colour=has_colour()))
    if any(isinstance(result, Ungraded) for result in results):
        return exit_codes.UNREADABLE
    passed = all(result.passed for result in results if isinstance(result, Report))
    return exit_codes.PASSED if passed else exit_codes.NOT_PASSED


def _write_reports(
    results: Sequence[Result],
    courses: Sequence[Course],
    junitxml: Path | None,
    html: Path | None,
    github: bool,
) -> bool:
    """Write the requested reports; return False if one of them could not be written."""
    # Each is imported only on request, so that `grader check` alone does not wait for them.
    written = True
    if junitxml is not None:
        from grader.reports import junit

        written &= _write(junitxml, without_commands(junit.render(results)))
    if html is not None:
        from grader.reports import html as page

        written &= _write(html, page.render(results, courses))
    if github:
        from grader.reports import github as classroom

        say_commands(classroom.points(results))
        summary = Path(os.environ[STEP_SUMMARY])
        # The commands of a step share one summary, so each adds to it.
        written &= _write(summary, classroom.summary(results), "a", "The run's summary")
    return written


def _write(path: Path, text: str, mode: str = "w", name: str = "") -> bool:
    try:
        with path.open(mode, encoding="utf-8", newline="\n") as file:
            file.write(text)
    except OSError as error:
        complain(f"{name or printable(str(path))} cannot be written: {reason(error)}.")
        return False
    return True
