"""`grader export`: the course in the form that another system takes."""

from __future__ import annotations

import click

from grader.commands.lazy_group import LazyGroup

MODULES = {name: f"grader.commands.export_{name}" for name in ("gradescope", "release")}


@click.group(cls=LazyGroup, modules=MODULES)
def export() -> None:
    """Write the course in the form that another system takes."""
