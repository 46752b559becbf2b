"""`grader hint`: the next hint for a gradient."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from grader.answer_cells import find_claims, which_notebook
from grader.blank_cells import notebook_of_prefix, read_blank_cells
from grader.close_names import nearest
from grader.commands import exit_codes
from grader.commands.speech import complain, say, terminal_width
from grader.hint_levels import Levels, read_levels
from grader.hint_memory import Hint, ask, review
from grader.hint_text import as_text
from grader.notebook_file import UnreadableNotebook, read_cells
from grader.printable import printable


class NotOne(Exception):
    """What was named is no gradient of the course, or several; the message is a sentence."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A gradient of one exercise."""

    exercise: str
    gradient: str


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
def hint(name: str, notebook: str | None, again: bool, all_: bool) -> int:
    """Give a hint for the gradient NAME, such as dcounts.

    There are three for each gradient, from nudge to nearly-there; each time you ask, you get the
    next one. They are those that the notebook has folded away, and `hint("dcounts")` in the
    notebook counts with you. `grader reset` begins anew.
    """
    levels = read_levels()
    try:
        asked = find_gradient(name, notebook, levels, notebook_of_prefix(read_blank_cells()))
    except (NotOne, UnreadableNotebook) as error:
        complain(str(error))
        return exit_codes.UNREADABLE
    if all_:
        texts = levels[asked.exercise][asked.gradient]
        found = Hint(asked.exercise, asked.gradient, len(texts), len(texts), texts)
    elif again:
        found = review(asked.exercise, asked.gradient)
    else:
        found = ask(asked.exercise, asked.gradient)
    if found.trouble:
        complain(printable(found.trouble))
    say(as_text(found, terminal_width()) + "\n" + _how_to_go_on(found, asked, notebook))
    return exit_codes.PASSED


def find_gradient(
    name: str, notebook: str | None, levels: Levels, notebooks: dict[str, str]
) -> Asked:
    """The one gradient that is meant.

    Args:
        name: the gradient's, `d` forgotten or not.
        notebook: a notebook's file, or what its name begins with; None for any.
        levels: the hints of every exercise.
        notebooks: the notebook of each exercise.

    Raises:
        NotOne: there is none, or several; the message is a sentence.
        UnreadableNotebook: `notebook` is a file that is none of the course's.
    """
    wanted = list(levels)
    if notebook is not None:
        chosen = _named_notebook(notebook, notebooks)
        wanted = [exercise for exercise in levels if notebooks.get(exercise) == chosen]
    known = [gradient for exercise in wanted for gradient in levels[exercise]]
    name = name.strip()
    gradient = name if name in known else f"d{name}"
    found = [exercise for exercise in wanted if gradient in levels[exercise]]
    if not found:
        raise NotOne(_unknown(name, known, levels, notebooks if notebook else {}))
    if len(found) > 1:
        names = [notebooks[exercise] for exercise in found]
        listed = f"{', '.join(names[:-1])} and {names[-1]}"
        raise NotOne(
            f"{gradient} is asked for in {listed}. Say which: "
            f"`grader hint {gradient} --notebook {_short(names[0])}`."
        )
    return Asked(found[0], gradient)


def _named_notebook(named: str, notebooks: dict[str, str]) -> str:
    names = list(dict.fromkeys(notebooks.values()))
    if named in notebooks:  # ex1
        return notebooks[named]
    if Path(named).suffix == ".ipynb" or Path(named).is_file():
        cells = read_cells(Path(named))
        return which_notebook(Path(named), cells, find_claims(cells), notebooks)
    fitting = [name for name in names if named and name.startswith(named)]
    if not fitting and named.isdecimal():
        fitting = [name for name in names if name.startswith(f"{int(named):02d}_")]
    if len(fitting) != 1:
        raise NotOne(
            f"There is no notebook {printable(named) or 'without a name'}; "
            f"there are {', '.join(names)}. The first two digits will do."
        )
    return fitting[0]


def _unknown(name: str, known: Sequence[str], levels: Levels, notebooks: dict[str, str]) -> str:
    elsewhere = [
        notebooks[exercise]
        for exercise in levels
        if exercise in notebooks and {name, f"d{name}"} & levels[exercise].keys()
    ]
    if elsewhere:
        return (
            f"{printable(name)} is not asked for in this notebook, but in {' and '.join(elsewhere)}"
            f": `grader hint {printable(name)} --notebook {_short(elsewhere[0])}`."
        )
    if close := nearest(name, known):
        return f"There is no gradient {printable(name)}: did you mean {' or '.join(close)}?"
    listed = ", ".join(dict.fromkeys(known))
    return f"There is no gradient {printable(name)}; there are {listed}."


def _short(notebook: str) -> str:
    return notebook.partition("_")[0]


def _how_to_go_on(found: Hint, asked: Asked, notebook: str | None) -> str:
    more = found.levels - found.level
    if found.no_more or not more:
        return ""
    where = f" --notebook {shlex.quote(printable(notebook))}" if notebook else ""
    left = "one more" if more == 1 else f"{more} more"
    return f"\n({left}: grader hint {asked.gradient}{where})\n"
