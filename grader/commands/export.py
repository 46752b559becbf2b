"""`grader export`: the course in the form that another system takes."""

from __future__ import annotations

import importlib

import click

SUBCOMMANDS = ("gradescope", "release")
"""Each is the function of its name in the module `export_` + its name in `grader.commands`."""


class Exports(click.Group):
    """A group that imports a subcommand when it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(SUBCOMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in SUBCOMMANDS:
            return None
        module = importlib.import_module(f"grader.commands.export_{cmd_name}")
        subcommand: click.Command = getattr(module, cmd_name)
        return subcommand


@click.group(cls=Exports)
def export() -> None:
    """Write the course in the form that another system takes."""
