"""`grader hint`: the next hint for a gradient."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import click

from grader.close_names import did_you_mean
from grader.commands.course import course_option
from grader.commands.speech import complain, say, terminal_width
from grader.notebook.hint_text import as_text
from grader.notebook.hints import Hint, Levels, ask, homes_of, read_levels, review
from grader.printable import listed, printable
from grader.program.course import number_of
from grader.submission.answer_cells import which_notebook
from grader.submission.course_files import find_course_files
from grader.submission.notebook_file import read_cells
from grader.submission.which_course import course_for
from grader.user_error import UserError


@click.command()
@click.argument("name")
@click.option(
    "--notebook",
    metavar="NOTEBOOK",
    help="Which notebook, where several ask for a gradient of this name: its file, or the "
    "beginning of its name, such as 02.",
)
@click.option("--again", is_flag=True, help="Show the hints asked for so far, and none more.")
@click.option("--all", "all_", is_flag=True, help="Show all three, without counting them.")
@course_option
def hint(name: str, notebook: str | None, again: bool, all_: bool, course: str | None) -> None:
    """Give a hint for the gradient NAME, such as dcounts.

    There are three for each gradient, from nudge to nearly-there; each time you ask, you get the
    next one. They are those that the notebook has folded away, and `hint("dcounts")` in the
    notebook counts with you. `grader reset` begins anew.
    """
    file = Path(notebook or "")
    own = course_for(course, file if file.is_file() else Path())
    levels = read_levels(own)
    try:
        exercise, gradient = find_gradient(name, notebook, levels, own.notebook_of)
    except UserError as error:
        if course or notebook:
            raise
        strangers = find_course_files((Path(),), own.notebook_of).strangers
        asked_for = re.compile(rf'"d?{re.escape(name.strip())}"')
        elsewhere = [said for said, text in strangers.items() if asked_for.search(text)]
        raise UserError(" ".join([str(error), *elsewhere])) from error
    if all_:
        texts = levels[exercise][gradient]
        found = Hint(gradient, len(texts), len(texts), texts)
    elif again:
        found = review(own, exercise, gradient)
    else:
        found = ask(own, exercise, gradient)
    if found.trouble:
        complain(printable(found.trouble))
    say(as_text(found, terminal_width()) + "\n" + _how_to_go_on(found, notebook, course))


def find_gradient(
    name: str, notebook: str | None, levels: Levels, notebooks: dict[str, str]
) -> tuple[str, str]:
    """The exercise and the gradient that are meant.

    Args:
        name: the gradient's, `d` forgotten or not.
        notebook: a notebook's file, or what its name begins with; None for any.
        levels: the hints of every exercise.
        notebooks: the notebook of each exercise.

    Raises:
        UserError: no gradient has this name, or several do, or the file is not the course's.
    """
    name = name.strip()
    chosen = None if notebook is None else _named_notebook(notebook, notebooks)
    wanted = [exercise for exercise in levels if chosen in (None, notebooks.get(exercise))]
    homes = homes_of(name, levels)
    found = [exercise for exercise in wanted if exercise in homes]
    if len(found) == 1:
        return found[0], homes[found[0]]
    places = [notebooks[exercise] for exercise in found or homes]
    if found:
        gradient = homes[found[0]]
        raise UserError(
            f"{gradient} is asked for in {listed(places)}. Say which: "
            f"`grader hint {gradient} --notebook {number_of(places[0])}`."
        )
    if homes:
        raise UserError(
            f"{printable(name)} is not asked for in this notebook, but in {listed(places)}"
            f": `grader hint {printable(name)} --notebook {number_of(places[0])}`."
        )
    known = list(dict.fromkeys(gradient for exercise in wanted for gradient in levels[exercise]))
    if meant := did_you_mean([name], known):
        raise UserError(f"There is no gradient {printable(name)}: {meant}")
    raise UserError(f"There is no gradient {printable(name)}; there are {', '.join(known)}.")


def _named_notebook(named: str, notebooks: dict[str, str]) -> str:
    names = list(dict.fromkeys(notebooks.values()))
    if named in notebooks:  # ex1
        return notebooks[named]
    if Path(named).suffix == ".ipynb" or Path(named).is_file():
        cells = read_cells(Path(named))
        return which_notebook(Path(named), cells, notebooks)
    fitting = [name for name in names if named and name.startswith(named)]
    if not fitting and named.isdecimal():
        fitting = [name for name in names if name.startswith(f"{int(named):02d}_")]
    if len(fitting) != 1:
        raise UserError(
            f"There is no notebook {printable(named) or 'without a name'}; "
            f"there are {', '.join(names)}. The first two digits will do."
        )
    return fitting[0]


def _how_to_go_on(found: Hint, notebook: str | None, course: str | None) -> str:
    more = found.levels - found.level
    if found.no_more or not more:
        return ""
    options = {"--notebook": notebook, "--course": course}
    given = [f" {name} {shlex.quote(printable(value))}" for name, value in options.items() if value]
    left = "one more" if more == 1 else f"{more} more"
    return f"\n({left}: grader hint {found.gradient}{''.join(given)})\n"
