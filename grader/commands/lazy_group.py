"""A group of commands that imports one when it is asked for."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Mapping
from typing import Any

import click


class LazyGroup(click.Group):
    """Each command is the function of its name, in a module of its own.

    Args:
        modules: by each command's name, the module that it is in.
        settings: what click's own groups take.
    """

    def __init__(self, modules: Mapping[str, str], **settings: Any) -> None:
        super().__init__(**settings)
        self.modules = modules

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [name for name in self.modules if self._is_there(name)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if not self._is_there(cmd_name):
            return None
        command: click.Command = getattr(importlib.import_module(self.modules[cmd_name]), cmd_name)
        return command

    def _is_there(self, name: str) -> bool:
        # A class repository is without the commands that are for changing the course.
        return name in self.modules and importlib.util.find_spec(self.modules[name]) is not None
