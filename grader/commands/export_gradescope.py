"""`grader export gradescope`: an autograder to upload."""

from __future__ import annotations

import secrets
from dataclasses import replace
from pathlib import Path

import click

from grader.commands import exit_codes
from grader.commands.speech import complain, say
from grader.export.gradescope_settings import ExportSettings, Visibility
from grader.printable import printable

KEY_BYTES = 16

VISIBILITIES = click.Choice([str(visibility) for visibility in Visibility])


@click.command()
@click.option(
    "--notebook", required=True, metavar="NAME", help="The assignment's notebook: 01, or its name."
)
@click.option(
    "--out",
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Where the zip goes (gradescope-01.zip, by the notebook's number).",
)
@click.option(
    "--rubric",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Points for each gradient (TOML), as for `grader grade`.",
)
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
    help="Where pip finds PyTorch without CUDA (PyTorch's installation page has the address); "
    "without it the image is gigabytes larger.",
)
def gradescope(
    notebook: str,
    out: Path | None,
    rubric: Path | None,
    visibility: str,
    stdout_visibility: str,
    leaderboard: bool,
    sandbox: str,
    torch_index: str | None,
) -> int:
    """Write the autograder of one notebook, a zip to upload to Gradescope.

    It holds this very installation of the course as a wheel. A submission gets a test for each
    gradient, with the verdict, the student's own line and why it is wrong.
    """
    chosen = ExportSettings(
        notebook,
        Visibility(visibility),
        Visibility(stdout_visibility),
        leaderboard,
        sandbox,
        key=secrets.token_hex(KEY_BYTES),
    )
    try:
        return _export(chosen, out, rubric, torch_index)
    except ModuleNotFoundError as error:
        complain(
            f"To make an autograder, {error.name} is needed, and it is missing: install it with "
            "`pip install 'backprop-ninja[grade]'`."
        )
    except OSError as error:
        complain(f"{printable(str(error.filename))}: {(error.strerror or str(error)).lower()}.")
    return exit_codes.UNREADABLE


def _export(
    chosen: ExportSettings, out: Path | None, rubric: Path | None, torch_index: str | None
) -> int:
    from grader.export.gradescope import UnknownNotebook, autograder_zip, notebook_named
    from grader.export.gradescope_results import max_points
    from grader.export.gradescope_wheel import NotInstalled
    from grader.gradebook.points import points_text
    from grader.gradebook.rubric import Rubric, UnusableRubric, read_rubric
    from grader.whole_file import whole_file

    try:
        settings = replace(chosen, notebook=notebook_named(chosen.notebook))
        points = Rubric() if rubric is None else read_rubric(rubric)
        text = None if rubric is None else rubric.read_bytes()
        data = autograder_zip(settings, text, points, torch_index)
    except (NotInstalled, UnknownNotebook, UnusableRubric) as error:
        complain(str(error))
        return exit_codes.UNREADABLE
    path = out or Path(f"gradescope-{settings.notebook.partition('_')[0]}.zip")
    with whole_file(path) as file:
        file.write(data)
    say(
        f"{printable(str(path))} grades {settings.notebook}. In a programming assignment on "
        "Gradescope:\n"
        f"- give it {points_text(max_points(settings.notebook, points))} points;\n"
        "- Configure Autograder: upload the zip; base image Ubuntu 22.04 or newer;\n"
        "- Settings, container specifications: at least 1.5 GB of memory;\n"
        "- try it with a submission of your own before students see the assignment.\n"
        "Keep the zip to yourself: it holds the key to the hidden values.\n"
    )
    return exit_codes.PASSED
