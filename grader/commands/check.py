"""`grader check`: a verdict on every gradient of some notebooks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from grader.commands import exit_codes
from grader.commands.github_run import github_option, tell_github
from grader.commands.grade_file import grade_file
from grader.commands.sandbox_option import sandbox_option, which_sandbox
from grader.commands.speech import complain, has_colour, say, terminal_width, waiting_for
from grader.commands.timeout import limits, timeout_option

if TYPE_CHECKING:
    from grader.reports.result import Result


def _no_notebook(_: click.Context, option: click.Parameter, path: Path | None) -> Path | None:
    if path is not None and path.suffix == ".ipynb":
        raise click.BadParameter(f"{path} is a notebook's name: a report would overwrite it.")
    return path


def _report_option(name: str, help_: str) -> Callable[[Callable[..., int]], Callable[..., int]]:
    path = click.Path(path_type=Path)
    return click.option(name, type=path, metavar="FILE", callback=_no_notebook, help=help_)


@click.command()
@click.argument(
    "notebooks", nargs=-1, required=True, metavar="NOTEBOOK...", type=click.Path(path_type=Path)
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
@_report_option("--junitxml", "Also write JUnit XML for continuous integration.")
@_report_option("--html", "Also write one self-contained HTML page.")
@github_option
@timeout_option
@sandbox_option
def check(
    notebooks: Sequence[Path],
    as_json: bool,
    junitxml: Path | None,
    html: Path | None,
    github: bool,
    timeout: float | None,
    sandbox: str | None,
) -> int:
    """Say of each gradient in each NOTEBOOK whether it is right.

    The exit code is 0 if every gradient passes, 1 if not, and 2 if a file cannot be read as one
    of the course's notebooks.
    """
    if as_json and github:
        raise click.UsageError("--json and --github both print to standard output: take one.")
    from grader.runner import Runner

    results = []
    with Runner(limits(timeout), which_sandbox(sandbox)) as runner:
        for path in notebooks:
            with waiting_for(path):
                result = grade_file(path, runner)
            results.append(result)
            if not as_json:
                _show(result)
    _show_all(results, as_json)
    written = [
        path is None or _write(path, results, renderer)
        for path, renderer in ((junitxml, _junit), (html, _html))
    ]
    if github:
        written.append(tell_github(results))
    return _exit_code(results) if all(written) else exit_codes.UNREADABLE


def _exit_code(results: Sequence[Result]) -> int:
    from grader.reports.result import Graded

    reports = [result.report for result in results if isinstance(result, Graded)]
    if len(reports) < len(results):
        return exit_codes.UNREADABLE
    passed = all(report.passed for report in reports)
    return exit_codes.PASSED if passed else exit_codes.NOT_PASSED


def _show(result: Result) -> None:
    from grader.reports import terminal
    from grader.reports.result import Graded

    if isinstance(result, Graded):
        say(terminal.render(result, width=terminal_width(), colour=has_colour()) + "\n")
    else:
        complain(result.sentence)


def _show_all(results: Sequence[Result], as_json: bool) -> None:
    from grader.reports import as_json as json_report
    from grader.reports import terminal
    from grader.reports.result import Ungraded

    if as_json:
        say(json_report.render(results))
        for result in results:
            if isinstance(result, Ungraded):
                complain(result.sentence)
    elif len(results) > 1:
        say(terminal.render_overview(results, width=terminal_width(), colour=has_colour()))


def _junit(results: Sequence[Result]) -> str:
    from grader.reports import junit

    return junit.render(results)


def _html(results: Sequence[Result]) -> str:
    from grader.reports import html

    return html.render(results)


def _write(
    path: Path, results: Sequence[Result], render: Callable[[Sequence[Result]], str]
) -> bool:
    from grader.printable import printable

    try:
        path.write_text(render(results), encoding="utf-8", newline="\n")
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        complain(f"{printable(str(path))} cannot be written: {reason}.")
        return False
    return True
