"""Types of options that several commands share: paths, numbers, parsed texts and limits."""

from __future__ import annotations

import errno
import math
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar, cast

import click

from grader.printable import printable
from grader.worker.terms import Limits

F = TypeVar("F", bound=Callable[..., Any])


class PathTo(click.Path):
    """A path, but not "", because `--out "$OUT"` without OUT would mean the current folder."""

    def __init__(self, metavar: str | None = None, dir_okay: bool = True) -> None:
        super().__init__(dir_okay=dir_okay, path_type=Path)
        self._metavar = metavar

    def get_metavar(self, param: click.Parameter, ctx: click.Context | None = None) -> str | None:
        """The name of the path in an option's help; see `click.ParamType`."""
        return self._metavar

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The path; see `click.ParamType`."""
        if not os.fspath(value):
            self.fail("it is empty: is a variable of your shell not set?", param, ctx)
        found = cast("Path", super().convert(value, param, ctx))
        try:
            found.stat()
        except (OSError, ValueError) as error:  # all others the command itself tells
            if getattr(error, "errno", None) == errno.ELOOP:
                link = printable(str(found))
                self.fail(f"{link} is a link that leads round in a circle.", param, ctx)
        return found


FILE, FOLDER, DIR = PathTo("FILE"), PathTo("FOLDER"), PathTo("DIR")


AS_TYPED = "grader.as_typed"
"""The key under which a context keeps the texts of the options that `said_by` parses."""


class Number(click.FloatRange):
    """A number in a range. Click itself would accept NaN."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The number; see `click.ParamType`."""
        found: float = super().convert(value, param, ctx)
        if not math.isfinite(found):
            self.fail(f"{value} is not a finite number.", param, ctx)
        return found


def said_by(parse: Callable[[Any], Any]) -> Callable[..., Any]:
    """A callback for click that parses an option, and turns ValueError into click's own error."""

    def callback(context: click.Context, parameter: click.Parameter, value: Any) -> Any:
        context.meta.setdefault(AS_TYPED, {})[parameter.name] = value
        try:
            return None if value is None else parse(value)
        except ValueError as error:
            raise click.BadParameter(str(error)) from None

    return callback


def _no_notebook(path: Path) -> Path:
    if path.suffix == ".ipynb":
        raise ValueError(f"{path} is a notebook's name: a report would overwrite it.")
    return path


def report_option(name: str, help_: str) -> Callable[[F], F]:
    """An option for the file of a report."""
    return click.option(name, type=FILE, callback=said_by(_no_notebook), help=help_)


timeout_option = click.option(
    "--timeout",
    type=Number(0.1, 3600),
    metavar="SECONDS",
    help="Stop a statement of an answer after this long (10). A whole notebook has six times that,"
    " but at most 60 s unless one statement may take longer.",
)
"""Adds `--timeout SECONDS`, whose value goes to `limits`."""


def limits(timeout: float | None) -> Limits:
    """The usual limits of an answer, with the requested time for a statement, if any."""
    if timeout is None:
        return Limits()
    total = max(timeout, min(Limits().total_seconds, 6 * timeout))
    return replace(Limits(), statement_seconds=timeout, total_seconds=total)
