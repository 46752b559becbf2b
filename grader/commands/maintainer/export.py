"""`grader export`: write the course in the form that another system takes."""

from __future__ import annotations

import re
import secrets
from pathlib import Path
from typing import Any

import click

from grader.commands.course import class_course_option, course_notebook, instructors_course
from grader.commands.extras import require
from grader.commands.maintainer.dev import InRepository, why_not_here
from grader.commands.options import DIR, FILE, FOLDER, PathTo, said_by
from grader.commands.speech import say
from grader.platforms.gradescope.settings import Visibility
from grader.printable import printable
from grader.program.course import built_in_course, number_of
from grader.user_error import UserError

KEY_BYTES = 16
VISIBILITIES = click.Choice([str(visibility) for visibility in Visibility])


@click.group()
def export() -> None:
    """Write the course in the form that another system takes."""


def _index(text: str) -> str:
    if re.fullmatch(r"https?://\S+", text):
        return text
    raise ValueError(f"{printable(text)!r} is not an address (https://...).")


@export.command()
@class_course_option
@click.option(
    "--notebook", required=True, metavar="NAME", help="The assignment's notebook: 01, or its name."
)
@click.option(
    "--out",
    type=PathTo("FILE", dir_okay=False),
    help="Where the zip goes (gradescope-01.zip, by the notebook's number).",
)
@click.option("--rubric", type=FILE, help="Points for each gradient (TOML), as for `grader grade`.")
@click.option(
    "--visibility",
    type=VISIBILITIES,
    default=str(Visibility.VISIBLE),
    show_default=True,
    help="When students see the tests, one for each gradient.",
)
@click.option(
    "--stdout-visibility",
    type=VISIBILITIES,
    default=str(Visibility.HIDDEN),
    show_default=True,
    help="When students see what the autograder prints. While that is hidden, flags are printed "
    "there; otherwise they are a hidden test, with which Gradescope shows a student no total.",
)
@click.option("--leaderboard", is_flag=True, help="Have a leaderboard of points.")
@click.option(
    "--sandbox",
    type=click.Choice(["account", "bwrap"]),
    default="account",
    show_default=True,
    help="What to do where bubblewrap does not work, as in most containers: run answers under an "
    "account that owns nothing (account), or grade nothing (bwrap).",
)
@click.option(
    "--torch-index",
    metavar="URL",
    callback=said_by(_index),
    help="Where pip finds PyTorch without CUDA (PyTorch's installation page has the address); "
    "without it the image is gigabytes larger.",
)
def gradescope(
    course: str | None,
    notebook: str,
    out: Path | None,
    rubric: Path | None,
    torch_index: str | None,
    **chosen: Any,
) -> None:
    """Write an autograder for Gradescope.

    It grades one notebook, and is a zip to upload. It holds this very installation of the course as
    a wheel. A submission gets a test for each gradient, with the verdict, the student's own line
    and why it is wrong.
    """
    require("grade", "grader export gradescope")
    from grader.classroom.gradebook.rubric import points_text, read_rubric
    from grader.platforms.gradescope.archive import autograder_zip
    from grader.platforms.gradescope.settings import settings_from
    from grader.whole_file import write_whole

    own = instructors_course(course)
    name = course_notebook(notebook, own, "--notebook")
    settings = settings_from({**chosen, "notebook": name, "key": secrets.token_hex(KEY_BYTES)})
    points = read_rubric(rubric, own)
    text = None if rubric is None else rubric.read_bytes()
    path = out or Path(f"gradescope-{number_of(name)}.zip")
    write_whole(path, autograder_zip(settings, text, own, torch_index))
    say(
        f"{printable(str(path))} grades {name}. In a programming assignment on "
        "Gradescope:\n"
        f"- give it {points_text(points.most(name))} points;\n"
        "- Configure Autograder: upload the zip; base image Ubuntu 22.04 or newer;\n"
        "- Settings, container specifications: at least 1.5 GB of memory;\n"
        "- try it with a submission of your own before students see the assignment.\n"
        "Keep the zip to yourself: it holds the key to the hidden values.\n"
    )


@export.command()
@class_course_option
@click.option(
    "--out", required=True, type=FOLDER, help="Where the assignments go, a notebook each."
)
@click.pass_context
def otter(context: click.Context, course: str | None, out: Path) -> None:
    """Write each notebook as an assignment for `otter assign`.

    They are made from the course's sources, with their solutions. The course goes along in the
    assignment, so that points are counted by it and never by what a student hands in. For the
    built-in course, run this in a clone of its repository.
    """
    own = instructors_course(course)
    is_ours = own is built_in_course()
    if is_ours and (trouble := why_not_here(context.command_path)):
        raise UserError(trouble)
    require("author", context.command_path)

    from grader.authoring.course import OURS, Layout
    from grader.platforms.assignments import write_otter

    write_otter(out, OURS if is_ours else Layout.of(own))


@export.command(cls=InRepository)
@click.option(
    "--out",
    required=True,
    type=DIR,
    help="An empty or new folder, an empty clone, or an earlier release, which is updated.",
)
@click.option(
    "--repository",
    metavar="OWNER/NAME",
    help="The class repository on GitHub, where badges and Colab cells are to lead.",
)
def release(out: Path, repository: str | None) -> None:
    """Write the course without its answers.

    What is written is ready to be pushed to a class repository. It holds the blank notebooks, the
    packages that check them, a README for students and a workflow; no solutions, no sources, no
    tests, nothing that makes the course. Run it in a clone of the course's repository.

    In a folder that holds an earlier release, files that you have changed since stay as they are.

    The exit code is 0 if the release is written, and 2 if something is in the way.
    """
    from grader.authoring.address import repository_address
    from grader.authoring.release import release_files, write_release

    address = repository and repository_address(repository)
    written = write_release(release_files(address), out)
    say(f"{out}: {len(written.new)} files written, {len(written.removed)} removed.\n")
    for name in written.kept:
        say(f"{name} has been changed since the last release and stays as it is.\n")
    if address is None:
        say("Badges and Colab cells lead to the course's own repository: see --repository.\n")
