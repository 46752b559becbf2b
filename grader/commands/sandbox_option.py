"""The option that says where answers run."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from grader.sandbox import Sandbox


def sandbox_option(command: Callable[..., int]) -> Callable[..., int]:
    """`--sandbox bwrap|none`; `which_sandbox` makes something of it."""
    return click.option(
        "--sandbox",
        type=click.Choice(["bwrap", "none"]),
        help="Where answers run: in bwrap, or without (in bwrap where there is one).",
    )(command)


def which_sandbox(asked: str | None) -> Sandbox:
    """The sandbox asked for, or else the strongest there is.

    Raises:
        ClickException: there is none such.
    """
    from grader.sandbox import NoSandbox, Sandbox, best_sandbox, require

    if asked is None:
        return best_sandbox()
    try:
        require(Sandbox(asked))
    except NoSandbox as error:
        raise click.ClickException(str(error)) from None
    return Sandbox(asked)
