"""The `grader` command."""

# A cold `grader check` may take twice the time of `import torch` plus one second. Most of this is
# the worker's own import of torch. Therefore the worker starts first, and modules that import torch
# or are rarely needed are imported afterwards. Click is used instead of typer, because the same
# command line then starts in 0.05 s instead of 0.20 s.

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
from collections.abc import Sequence

import click

from grader.commands import exit_codes
from grader.commands.speech import complain, own_failure, say
from grader.printable import printable
from grader.user_error import UserError, reason
from makemore_data.interruption import uninterrupted

SECTIONS = {
    "Commands for notebooks": ("grader.commands", ("start", "check", "explain")),
    "Commands for a class": ("grader.commands", ("compare", "grade", "handback")),
    "Commands for a course": ("grader.commands.maintainer", ("build", "dev", "export", "new")),
}
"""The commands as the help lists them, and where their modules are."""
COMMANDS = {name: f"{room}.{name}" for room, names in SECTIONS.values() for name in names}
"""The module of each command. In it, the command is the function with the same name."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code, without raising SystemExit."""
    try:
        code = command.main(arguments, prog_name="grader", standalone_mode=False)
        return code if isinstance(code, int) else exit_codes.PASSED
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        return exit_codes.INTERRUPTED
    except UserError as error:
        complain(str(error))
        return exit_codes.UNREADABLE
    except OSError as error:
        where = printable(str(error.filename)) if error.filename else "The command cannot go on"
        complain(f"{where}: {reason(error)}.")
        return exit_codes.UNREADABLE
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


LONGEST_SUMMARY = 200
"""The most characters of a command's first sentence, which may continue on further lines."""


class _LazyGroup(click.Group):
    """A group that imports a command only when it is asked for; `COMMANDS` says where it is."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [name for name in COMMANDS if _is_there(name)]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        found = {name: self.get_command(ctx, name) for name in self.list_commands(ctx)}
        widest = max(map(len, found))
        for title, (_, names) in SECTIONS.items():
            rows = [
                (name.ljust(widest), one.get_short_help_str(LONGEST_SUMMARY))
                for name in names
                if (one := found.get(name))
            ]
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)

    @uninterrupted()
    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if not _is_there(cmd_name):
            return None
        command: click.Command = getattr(importlib.import_module(COMMANDS[cmd_name]), cmd_name)
        return command


def _is_there(name: str) -> bool:
    # A class repository is without the commands that are for changing the course.
    try:
        return importlib.util.find_spec(COMMANDS.get(name, "")) is not None
    except (ModuleNotFoundError, ValueError):
        return False


@click.group(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
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
