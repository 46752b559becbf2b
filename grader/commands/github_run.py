"""What `grader check` tells the run of GitHub Actions that it is a part of."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from grader.commands.speech import complain, say

if TYPE_CHECKING:
    from grader.reports.result import Result

VARIABLE = "GITHUB_STEP_SUMMARY"
"""Environment variable in which GitHub Actions names the file of a step's summary."""


def github_option(command: Callable[..., int]) -> Callable[..., int]:
    """`--github`; `tell_github` does it."""
    return click.option(
        "--github",
        is_flag=True,
        callback=_only_there,
        help="Also write the summary of a GitHub Actions run, and the points for GitHub Classroom.",
    )(command)


def tell_github(results: Sequence[Result]) -> bool:
    """Write the summary and print the points; say so and return False where that is not possible.

    A step's commands share one summary, so that it is added to.
    """
    from grader.reports import github

    say(github.points(results))
    try:
        with Path(os.environ[VARIABLE]).open("a", encoding="utf-8", newline="\n") as file:
            file.write(github.summary(results))
    except OSError as error:
        complain(f"The run's summary cannot be written: {(error.strerror or str(error)).lower()}.")
        return False
    return True


def _only_there(_: click.Context, option: click.Parameter, asked: bool) -> bool:
    if asked and not os.environ.get(VARIABLE):
        raise click.BadParameter(f"{VARIABLE} is not set: this is not a run of GitHub Actions.")
    return asked
