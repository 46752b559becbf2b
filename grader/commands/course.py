"""The option that says which course a command is about."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., object])


def course_option(command: Command) -> Command:
    """Add `--course FOLDER`, which `course_for` understands."""
    return click.option(
        "--course",
        is_eager=True,  # other options may ask for something of it
        metavar="FOLDER",
        help="The course: its folder, or the name of an installed one, or built-in. By default the "
        "one that the notebook names, or a course.toml beside or above it, else the built-in one. "
        "Its forward functions are run: take courses from people you trust.",
    )(command)
