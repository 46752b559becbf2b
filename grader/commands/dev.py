"""`grader dev`: what those need who change the course."""

from __future__ import annotations

from collections.abc import Sequence

import click

from grader.commands import exit_codes
from grader.commands.checkout import why_not_here
from grader.commands.speech import complain, say


@click.group()
def dev() -> None:
    """Commands for those who change the course, in its repository."""


@dev.command()
@click.argument("exercises", nargs=-1, metavar="[EXERCISE]...")
def check(exercises: Sequence[str]) -> int:
    """Say of every exercise whether all that belongs to it is there and in step.

    That is: a forward pass the grader can take apart, three hints for each gradient, a notebook
    that shows this forward pass and asks for these gradients, a blank that is to do, a solution and
    kept answers (tests/answers) that pass, notebooks that are what their sources make. Each
    EXERCISE is a prefix such as ex1; without any, all are looked at.

    The exit code is 0 if nothing is missing, 1 if something is, and 2 elsewhere than in the
    repository.
    """
    if trouble := why_not_here("grader dev check"):
        complain(trouble)
        return exit_codes.UNREADABLE
    from grader.dev_check import check_exercise, check_notebooks, right_answers
    from grader.exercises import EXERCISES
    from grader.runner import Runner

    known = {exercise.prefix: exercise for exercise in EXERCISES}
    if unknown := [prefix for prefix in exercises if prefix not in known]:
        complain(f"There is no exercise {unknown[0]}; there are {', '.join(known)}.")
        return exit_codes.UNREADABLE
    is_in_order = True
    with Runner() as runner:
        for prefix in exercises or known:
            exercise = known[prefix]
            asked = _counted(len(exercise.gradients), "gradient")
            kept = _counted(len(right_answers(exercise)), "right answer")
            what = f"{prefix} ({exercise.notebook}): {asked}, {kept}"
            is_in_order &= _told(what, list(check_exercise(exercise, runner)))
    is_in_order &= _told(
        "notebooks and their sources",
        check_notebooks(known[prefix].notebook for prefix in exercises),
    )
    return exit_codes.PASSED if is_in_order else exit_codes.NOT_PASSED


def _told(what: str, complaints: Sequence[str]) -> bool:
    """Say in a line how something is, and below it what is missing; true if nothing is."""
    say(f"{what}: {'to mend' if complaints else 'in order'}\n")
    for sentence in complaints:
        say(f"  {sentence}\n")
    return not complaints


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
