"""What options and arguments take: a path that says where, a number that is one."""

from __future__ import annotations

import errno
import math
import os
from pathlib import Path
from typing import Any, cast

import click

from grader.printable import printable


class PathTo(click.Path):
    """A path, never an empty one: from `--out "$OUT"` without OUT, it would be this very folder."""

    def __init__(self, metavar: str | None = None, dir_okay: bool = True) -> None:
        super().__init__(dir_okay=dir_okay, path_type=Path)
        self._metavar = metavar

    def get_metavar(self, param: click.Parameter, ctx: click.Context | None = None) -> str | None:
        """What an option's help calls the path; see `click.ParamType`."""
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


class Number(click.FloatRange):
    """A number in a range, in which click would take NaN to be."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The number; see `click.ParamType`."""
        found: float = super().convert(value, param, ctx)
        if not math.isfinite(found):
            self.fail(f"{value} is no finite number.", param, ctx)
        return found
