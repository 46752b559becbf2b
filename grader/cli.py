"""The `grader` command."""

# A cold `grader check` may take twice the time of `import torch` plus one second. The worker's own
# import of torch is most of that, so the worker starts first, and everything that imports torch
# here, or is needed only now and then, is imported after. Click where typer would do: the same
# command line starts in 0.05 s instead of 0.20 s.

from __future__ import annotations

import importlib.metadata
import os
import shutil
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from grader.reports.result import Result
    from grader.runner import Runner

EXIT_PASSED = 0
"""Every gradient of every notebook passes."""
EXIT_NOT_PASSED = 1
"""Something is to do, carried, fails, errs or is refused."""
EXIT_UNREADABLE = 2
"""A file could not be read as one of the course's notebooks, or a report could not be written."""
EXIT_INTERRUPTED = 130
"""Ctrl-C, as shells report it."""

_NO_TERMINAL = (100, 24)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; the exit code is returned, never raised."""
    try:
        code = command.main(arguments, prog_name="grader", standalone_mode=False)
        return code if isinstance(code, int) else EXIT_PASSED
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        return EXIT_INTERRUPTED
    except Exception as error:
        _complain(_own_failure("The command", error))
        return EXIT_UNREADABLE


def _print_version(context: click.Context, _: click.Parameter, asked: bool) -> None:
    if asked:
        try:
            version = importlib.metadata.version("backprop-ninja")
        except importlib.metadata.PackageNotFoundError:
            version = "(not installed: run from its folder)"
        _say(f"grader {version}\n")
        context.exit()


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_version,
    help="Show the version.",
)
def command() -> None:
    """Grade notebooks of the backpropagation course, gradient by gradient."""


def _no_notebook(_: click.Context, option: click.Parameter, path: Path | None) -> Path | None:
    if path is not None and path.suffix == ".ipynb":
        raise click.BadParameter(f"{path} is a notebook's name: a report would overwrite it.")
    return path


def _sensible_seconds(
    _: click.Context, option: click.Parameter, value: float | None
) -> float | None:
    if value is not None and not 0.1 <= value <= 3600:  # written so that NaN is refused
        raise click.BadParameter(f"{value} is not a number of seconds from 0.1 to 3600.")
    return value


def _report_option(name: str, help_: str) -> Callable[[Callable[..., int]], Callable[..., int]]:
    path = click.Path(path_type=Path)
    return click.option(name, type=path, metavar="FILE", callback=_no_notebook, help=help_)


@command.command()
@click.argument(
    "notebooks", nargs=-1, required=True, metavar="NOTEBOOK...", type=click.Path(path_type=Path)
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
@_report_option("--junitxml", "Also write JUnit XML for continuous integration.")
@_report_option("--html", "Also write one self-contained HTML page.")
@click.option(
    "--timeout",
    type=float,
    callback=_sensible_seconds,
    metavar="SECONDS",
    help="Stop a statement of an answer after this long (10), all of them after six times that.",
)
def check(
    notebooks: Sequence[Path],
    as_json: bool,
    junitxml: Path | None,
    html: Path | None,
    timeout: float | None,
) -> int:
    """Say of each gradient in each NOTEBOOK whether it is right.

    The exit code is 0 if every gradient passes, 1 if not, and 2 if a file cannot be read as one
    of the course's notebooks.
    """
    from grader.runner import Limits, Runner

    limits = Limits()
    if timeout is not None:
        limits = replace(limits, statement_seconds=timeout, total_seconds=6 * timeout)
    results = []
    with Runner(limits) as runner:
        for path in notebooks:
            with _waiting_for(path):
                result = _grade_file(path, runner)
            results.append(result)
            if not as_json:
                _show(result)
    _show_all(results, as_json)
    written = [
        path is None or _write(path, results, renderer)
        for path, renderer in ((junitxml, _junit), (html, _html))
    ]
    return _exit_code(results) if all(written) else EXIT_UNREADABLE


def _grade_file(path: Path, runner: Runner) -> Result:
    from grader.grading import grade
    from grader.reports.result import Graded, Ungraded
    from grader.submission import UnreadableNotebook, read_submission

    try:
        submission = read_submission(path)
        report = grade(submission.notebook, submission.cells, runner)
    except UnreadableNotebook as error:
        return Ungraded(path, str(error))
    except Exception as error:  # the other notebooks are graded all the same
        return Ungraded(path, _own_failure(str(path), error))
    report = replace(report, flags=(*submission.flags, *report.flags))
    return Graded(path, report, submission.cells)


def _exit_code(results: Sequence[Result]) -> int:
    from grader.reports.result import Graded

    reports = [result.report for result in results if isinstance(result, Graded)]
    if len(reports) < len(results):
        return EXIT_UNREADABLE
    return EXIT_PASSED if all(report.passed for report in reports) else EXIT_NOT_PASSED


def _show(result: Result) -> None:
    from grader.reports import terminal
    from grader.reports.result import Graded

    if isinstance(result, Graded):
        width = shutil.get_terminal_size(_NO_TERMINAL).columns
        _say(terminal.render(result, width=width, colour=_has_colour()) + "\n")
    else:
        _complain(result.sentence)


def _show_all(results: Sequence[Result], as_json: bool) -> None:
    from grader.reports import as_json as json_report
    from grader.reports import terminal
    from grader.reports.result import Ungraded

    if as_json:
        _say(json_report.render(results))
        for result in results:
            if isinstance(result, Ungraded):
                _complain(result.sentence)
    elif len(results) > 1:
        width = shutil.get_terminal_size(_NO_TERMINAL).columns
        _say(terminal.render_overview(results, width=width, colour=_has_colour()))


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
        _complain(f"{printable(str(path))} cannot be written: {reason}.")
        return False
    except ModuleNotFoundError as error:
        _complain(
            f"{printable(str(path))} is not written: {error.name} is missing. "
            "Install it with `pip install 'backprop-ninja[report]'`."
        )
        return False
    return True


def _own_failure(what: str, error: Exception) -> str:
    from grader.printable import printable

    if os.environ.get("GRADER_DEBUG"):
        traceback.print_exc()
    return (
        f"{printable(what)} failed, and not through your answers: {type(error).__name__}: "
        f"{printable(str(error))}. This is a mistake in the grader; please report it, with what "
        "GRADER_DEBUG=1 shows."
    )


def _has_colour() -> bool:
    """The terminal's colours, unless the user's environment asks for none (no-color.org)."""
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return sys.stdout.isatty() and os.environ.get("TERM") != "dumb"


@contextmanager
def _waiting_for(path: Path) -> Iterator[None]:
    """A word on the terminal during the seconds in which there is nothing to show yet."""
    if not sys.stderr.isatty():
        yield
        return
    from grader.printable import printable

    columns = shutil.get_terminal_size(_NO_TERMINAL).columns
    click.echo(f"grading {printable(path.name)} ..."[: columns - 1], nl=False, err=True)
    try:
        yield
    finally:
        click.echo("\r" + " " * (columns - 1) + "\r", nl=False, err=True)


def _complain(sentence: str) -> None:
    click.echo(sentence, err=True)


def _say(text: str) -> None:
    """Print to standard output, whatever it is connected to."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        from grader.reports.terminal import in_ascii

        text = in_ascii(text)
    try:
        click.echo(text, nl=False, color=True)  # the text has escapes only if they are wanted
    except OSError as error:
        # What is left in the buffer would raise again when the interpreter exits.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):  # `| head` has simply seen enough
            raise click.ClickException(f"The output cannot be written: {error.strerror}.") from None
