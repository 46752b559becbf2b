"""The option that bounds how long an answer may run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from grader.commands.option_types import Number

if TYPE_CHECKING:
    from grader.worker.terms import Limits


def timeout_option(command: Callable[..., int]) -> Callable[..., int]:
    """Add `--timeout SECONDS`, which `limits` reads."""
    return click.option(
        "--timeout",
        type=Number(0.1, 3600),
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
