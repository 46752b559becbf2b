"""The option that bounds how long an answer may run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from grader.worker.terms import Limits


def timeout_option(command: Callable[..., int]) -> Callable[..., int]:
    """Add `--timeout SECONDS`, which `limits` reads."""
    return click.option(
        "--timeout",
        type=float,
        callback=_sensible_seconds,
        metavar="SECONDS",
        help="Stop a statement of an answer after this long (10), all of them after six times "
        "that.",
    )(command)


def limits(timeout: float | None) -> Limits:
    """The limits of an answer: the usual ones, with a statement's time if one was asked for."""
    from grader.worker.terms import Limits

    if timeout is None:
        return Limits()
    return replace(Limits(), statement_seconds=timeout, total_seconds=6 * timeout)


def _sensible_seconds(
    _: click.Context, option: click.Parameter, value: float | None
) -> float | None:
    if value is not None and not 0.1 <= value <= 3600:  # written so that NaN is refused
        raise click.BadParameter(f"{value} is not a number of seconds from 0.1 to 3600.")
    return value
