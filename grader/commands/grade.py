"""`grader grade`: a class's notebooks become a gradebook."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import click

from grader.commands.grade_class import SEED_BITS, Order, grade_class
from grader.commands.speech import say
from grader.commands.timeout import timeout_option
from grader.printable import printable


def _moment(_: click.Context, option: click.Parameter, text: str | None) -> datetime | None:
    if text is None:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise click.BadParameter(
            f"{printable(text)!r} is no time: write 2026-11-20, 2026-11-20T18:00 or "
            "2026-11-20T18:00+01:00."
        ) from None
    # A day that is due is over when it ends.
    return moment.replace(hour=23, minute=59, second=59) if len(text) <= 10 else moment


def _print_rubric(context: click.Context, _: click.Parameter, asked: bool) -> None:
    if asked:
        from grader.gradebook import example_rubric

        say(example_rubric())
        context.exit()


@click.command()
@click.argument("folder", metavar="FOLDER", type=click.Path(path_type=Path))
@click.option(
    "--out",
    required=True,
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Where the gradebook goes: a new folder, or that of an earlier run to go on with.",
)
@click.option(
    "--roster",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="The class list, as Canvas, Moodle, Gradescope or nbgrader export it, or one id a line: "
    "who handed in nothing gets a row too.",
)
@click.option(
    "--due",
    metavar="WHEN",
    callback=_moment,
    help="What was handed in later is marked late: 2026-11-20 (the whole day), 2026-11-20T18:00.",
)
@click.option(
    "--rubric",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Points for each gradient (TOML). Another rubric regrades nothing.",
)
@click.option(
    "--example-rubric",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_rubric,
    help="Print a rubric to edit.",
)
@click.option(
    "--jobs",
    type=click.IntRange(1, 1024),
    metavar="N",
    help="Processes that grade at the same time (as many as there are cores).",
)
@click.option(
    "--scheduler",
    metavar="ADDRESS",
    help="Grade on the workers of a Dask scheduler, such as tcp://10.0.0.1:8786, not here.",
)
@click.option(
    "--seed",
    type=click.IntRange(0, 2**SEED_BITS - 1),
    metavar="N",
    help="Seed of the hidden values (drawn anew for each DIR and kept there): the same seed gives "
    "the same results.",
)
@timeout_option
@click.option(
    "--sandbox",
    type=click.Choice(["bwrap", "none"]),
    default="bwrap",
    show_default=True,
    help="What keeps students' code from this machine. With none it can read and write all that "
    "you can.",
)
@click.option("--quiet", is_flag=True, help="Say only what is wrong.")
def grade(
    folder: Path,
    out: Path,
    roster: Path | None,
    due: datetime | None,
    rubric: Path | None,
    jobs: int | None,
    scheduler: str | None,
    seed: int | None,
    timeout: float | None,
    sandbox: str,
    quiet: bool,
) -> int:
    """Grade what a class handed in: FOLDER becomes a gradebook in DIR.

    FOLDER is what Canvas, Moodle or Gradescope let you download (unpacked), nbgrader's submitted/,
    a folder for each student, or just notebooks. Nothing in it is changed.

    Every notebook is written to DIR/results.jsonl as soon as it is graded. Stop it whenever you
    like (Ctrl-C, a power cut): the same command goes on where it stopped. Give it again when files
    were added or changed, too: only those are graded.

    The exit code is 0 once every file has its row, whatever the grades; 2 if the class could not
    be graded, and a sentence says why; 130 after Ctrl-C.
    """
    order = Order(folder, out, roster, due, rubric, jobs, scheduler, seed, timeout, sandbox, quiet)
    return grade_class(order)
