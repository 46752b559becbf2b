"""The `grader` command."""

# A cold `grader check` may take twice the time of `import torch` plus one second. The worker's own
# import of torch is most of that, so the worker starts first, and everything that imports torch
# in a command, or is needed only now and then, is imported after. Click where typer would do: the
# same command line starts in 0.05 s instead of 0.20 s.

from __future__ import annotations

import importlib.metadata
from collections.abc import Sequence

import click

from grader.commands import exit_codes
from grader.commands.lazy_group import LazyGroup
from grader.commands.speech import complain, own_failure, say

COMMANDS = ("check", "dev", "export", "grade", "hint", "reset", "status", "watch")
"""Each is the function of its name in the module of its name in `grader.commands`."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; the exit code is returned, never raised."""
    try:
        code = command.main(arguments, prog_name="grader", standalone_mode=False)
        return code if isinstance(code, int) else exit_codes.PASSED
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        return exit_codes.INTERRUPTED
    except Exception as error:
        complain(own_failure("The command", error))
        return exit_codes.UNREADABLE


def _print_version(context: click.Context, _: click.Parameter, asked: bool) -> None:
    if asked:
        try:
            version = importlib.metadata.version("backprop-ninja")
        except importlib.metadata.PackageNotFoundError:
            version = "(not installed: run from its folder)"
        say(f"grader {version}\n")
        context.exit()


@click.group(
    cls=LazyGroup,
    modules={name: f"grader.commands.{name}" for name in COMMANDS},
    context_settings={"help_option_names": ["-h", "--help"]},
)
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
