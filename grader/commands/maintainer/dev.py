"""`grader dev`: commands for people who change the course."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click

from grader.commands import exit_codes
from grader.commands.options import FOLDER, PathTo
from grader.commands.speech import complain, told
from grader.printable import counted
from grader.user_error import UserError

ANSWERS = Path("corpus/answers")
NEEDED = (Path("notebooks/source"), ANSWERS, Path("pyproject.toml"))
"""The file by which the repository's folder is recognised."""


class InRepository(click.Command):
    """A command that works on the course's own files, and nowhere else."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command, or say in which folder it can run."""
        if trouble := why_not_here(ctx.command_path):
            complain(trouble)
            return exit_codes.UNREADABLE
        return super().invoke(ctx)


class _Group(click.Group):
    command_class = InRepository

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except UserError as error:
            complain(str(error))
            return exit_codes.NOT_PASSED


_out = click.option("--out", required=True, type=FOLDER, help="Where the files go.")


@click.group(cls=_Group)
def dev() -> None:
    """Make and check the course, in its own repository."""


@dev.command()
@click.argument("exercises", nargs=-1, metavar="[EXERCISE]...")
def check(exercises: Sequence[str]) -> int:
    """Say of every exercise whether it is complete and in order.

    That is: a forward pass the grader can take apart, three hints for each gradient, a notebook
    that shows this forward pass and asks for these gradients, a blank that is to do, a solution and
    kept answers (corpus/answers) that pass, notebooks that are what their sources make. Each
    EXERCISE is a prefix such as ex1; without any, all are looked at.

    The exit code is 0 if nothing is missing, 1 if something is, and 2 elsewhere than in the
    repository.
    """
    from grader.authoring.dev_check import check_exercise, check_notebooks, right_answers
    from grader.execution.runner import Runner
    from grader.program.course import built_in_course
    from grader.program.exercises import load_exercises

    known = {exercise.prefix: exercise for exercise in load_exercises(built_in_course())}
    if unknown := [prefix for prefix in exercises if prefix not in known]:
        complain(f"There is no exercise {unknown[0]}; there are {', '.join(known)}.")
        return exit_codes.UNREADABLE
    is_in_order = True
    with Runner() as runner:
        for prefix in exercises or known:
            exercise = known[prefix]
            asked = counted(len(exercise.gradients), "gradient")
            kept = counted(len(right_answers(exercise, ANSWERS)), "right answer")
            what = f"{prefix} ({exercise.notebook}): {asked}, {kept}"
            is_in_order &= told(what, list(check_exercise(exercise, runner)))
    is_in_order &= told(
        "notebooks and their sources",
        check_notebooks(known[prefix].notebook for prefix in exercises),
    )
    return exit_codes.PASSED if is_in_order else exit_codes.NOT_PASSED


@dev.command()
@click.argument("names", nargs=-1, metavar="[NOTEBOOK]...")
def build(names: Sequence[str]) -> None:
    """Make the notebooks from their sources.

    Each source becomes a blank notebook, and a solved one, which is run. Each NOTEBOOK is a name
    such as 01_atomic_backprop; without any, all are made.
    """
    from grader.authoring.build import build

    build(names)


@dev.command()
def verify() -> int:
    """Say whether the committed notebooks are what their sources make."""
    from grader.authoring.build import verify

    if complaints := verify():
        complain("\n".join([*complaints, "Run `make notebooks`, look, commit."]))
    return exit_codes.NOT_PASSED if complaints else exit_codes.PASSED


@dev.command()
@click.argument("blank", type=PathTo())
@click.argument("answers", nargs=-1, required=True, type=PathTo())
@_out
def fill(blank: Path, answers: Sequence[Path], out: Path) -> None:
    """Put files of answers into a blank notebook.

    Each file of ANSWERS becomes a submission in FOLDER: a copy of the notebook BLANK with them in
    it.
    """
    from grader.authoring.build import fill_in

    fill_in(blank, answers, out)


@dev.command()
@_out
def mark(out: Path) -> None:
    """Copy the solutions for nbval on other names.

    In the copies, outputs that depend on the list of names are marked: nbval leaves them out.
    """
    from grader.authoring.build import mark

    mark(out)


@dev.command()
@click.argument("repository", metavar="OWNER/NAME")
def repoint(repository: str) -> None:
    """Lead the course's links to a fork's repository.

    Badges, links and Colab cells then have the address of OWNER/NAME on GitHub. No solution runs
    again, and outputs stay as they are. Only if something else is out of date, everything is built
    anew, and a sentence says so.
    """
    from grader.authoring.address import repoint

    repoint(repository)


@dev.command()
@_out
def nbgrader(out: Path) -> None:
    """Write the course as an assignment for nbgrader.

    FOLDER gets the settings, and the notebooks with their solutions.
    """
    from grader.platforms.assignments import write_nbgrader

    write_nbgrader(out)


def why_not_here(command: str) -> str:
    """A sentence if this is not the course's repository, or if another grader is running here."""
    if not all(path.exists() for path in NEEDED):
        return (
            f"`{command}` looks at the course's own files: run it in a clone of the course's"
            f" repository. There is no {next(p for p in NEEDED if not p.exists())} here."
        )
    if (own := Path(__file__).parents[2]) != Path("grader").resolve():
        return (
            f"This grader stands in {own}, and not in the repository here: run"
            f" `.venv/bin/python -m {command}`, which `make check` sets up."
        )
    if missing := [name for name in ("jupytext", "nbformat", "nbclient") if not find_spec(name)]:
        return f"{missing[0]} is missing: `{command}` needs `pip install -e '.[dev,lab]'`."
    return ""
