"""The columns of a platform's own list for the grades, and the scale of the grades."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal, TypeGuard

from grader.classroom.gradebook.rubric import MOST, number_in
from grader.classroom.intake.class_folder import Roster
from grader.close_names import nearest
from grader.printable import listed, printable, there_are
from grader.user_error import UserError

CANVAS_COLUMNS = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section")
CANVAS_OPTIONAL = ("LastName", "FirstName", "Integration ID", "Root Account")
MOODLE_COLUMNS = ("Identifier", "Full name", "ID number", "Email address")
POINTS_POSSIBLE = "Points Possible"
MAXIMUM = "Maximum grade"
"""Moodle's present spelling, with one capital. It used to have two."""

_IDENTIFYING = frozenset({*CANVAS_COLUMNS, *CANVAS_OPTIONAL, *MOODLE_COLUMNS})


class UnknownColumn(UserError):
    """A column cannot take the points, because it does not exist or is another notebook's."""


Scale = Fraction | Literal["platform", "none"]
"""The scale for the full points: a number, the platform's own maximum, or none."""


_WORDS: Mapping[str, Scale] = {"platform": "platform", "none": "none"}


def read_scale(text: str) -> Scale:
    """The scale that is written "platform", "none" or as a number.

    Raises:
        ValueError: the text is none of these; the message is a sentence.
    """
    if word := _WORDS.get(text):
        return word
    if (number := maximum_in(text)) is not None and number <= MOST:
        return number
    raise ValueError(
        f"{printable(text)!r} is not a scale: write platform, none, or a number above 0."
    )


def maximum_in(text: str) -> Fraction | None:
    """The number above 0 that a platform, or a person, has written; None if there is none."""
    number = number_in(text)
    return number if number is not None and number > 0 else None


@dataclass(frozen=True, slots=True)
class PlatformForm:
    """How to write the files for the platforms.

    `canvas_columns` maps each notebook to the Canvas column for its points, and "" to the column
    for the sum of all.
    """

    scale: Scale = "platform"
    canvas_columns: Mapping[str, str] = field(default_factory=dict)


AS_THEY_ARE = PlatformForm()


def is_canvas_export(roster: Roster | None) -> TypeGuard[Roster]:
    """True if the class list is Canvas's own gradebook, from which `canvas.csv` is made."""
    return roster is not None and roster.kind == "canvas"


def is_moodle_worksheet(roster: Roster | None) -> TypeGuard[Roster]:
    """True if the class list is Moodle's grading worksheet, from which `moodle.csv` is made."""
    return roster is not None and roster.kind == "moodle" and MOODLE_COLUMNS[0] in roster.header


def refuse_unknown_columns(form: PlatformForm, roster: Roster | None) -> None:
    """Raise UnknownColumn if a column named for Canvas cannot take points in the class list."""
    if not form.canvas_columns:
        return
    if not is_canvas_export(roster):
        raise UnknownColumn(
            "--canvas-column needs Canvas's gradebook, as it is exported, for the --roster."
        )
    refuse_shared({who: own_column(name, roster) for who, name in form.canvas_columns.items()})


def refuse_shared(wanted: Mapping[str, str]) -> None:
    """Raise UnknownColumn if two notebooks have the same column; "" stands for all notebooks."""
    for name, number in Counter(wanted.values()).items():
        if number > 1:
            whose = listed([who or "all notebooks" for who, own in wanted.items() if own == name])
            raise UnknownColumn(
                f"Canvas's column {printable(name)!r} cannot take the points of {whose} apart: "
                "--canvas-column NOTEBOOK=COLUMN says where each goes."
            )


def own_column(name: str, roster: Roster) -> str:
    """The column that a person means, with or without Canvas's number in brackets."""
    others = _assignable(roster)
    found = _called(name, others)
    if len(found) == 1:
        return found[0]
    there = nearest(name, others) or others
    raise UnknownColumn(
        (
            f"Canvas computes its column {printable(name)!r} itself and takes no points for it"
            if not found and _called(name, roster.header) and name not in _IDENTIFYING
            else f"Canvas's list has {'more than one' if found else 'no'} column called "
            f"{printable(name)!r}"
        )
        + (f"; {there_are(map(printable, there))}." if there else ": it has none of its own.")
    )


def is_column(name: str, roster: Roster | None) -> bool:
    """True if a class list has a column with exactly this name, apart from Canvas's number."""
    return roster is not None and any(name in (each, _plain(each)) for each in roster.header)


def _called(name: str, columns: Collection[str]) -> list[str]:
    if name in columns:
        return [name]
    return [each for each in columns if letters(_plain(each)) == letters(name)]


def _plain(column: str) -> str:
    """The column's name without Canvas's number."""
    return re.sub(r"\s*\(\d+\)\s*\Z", "", column)


def _assignable(roster: Roster) -> list[str]:
    """The columns that can take points. Canvas marks those that it computes as "(read only)"."""
    possible = [row for row in roster.above if is_points_possible(row)]
    return [
        name
        for name in roster.header
        if name not in _IDENTIFYING
        and not any("read only" in roster.at(row, name).lower() for row in possible)
    ]


def column_for(notebook: str, roster: Roster) -> str:
    """The class list's own column for a notebook, or else the notebook's name."""
    wanted = letters(notebook)
    return next((name for name in _assignable(roster) if wanted in letters(name)), notebook)


def letters(text: str) -> str:
    """The letters of a column's name, by which names are compared."""
    return re.sub(r"[^a-z0-9]+", "", text.lower())


def is_points_possible(cells: tuple[str, ...]) -> bool:
    """True for Canvas's row with the maximum of each column."""
    return bool(cells) and cells[0].strip() == POINTS_POSSIBLE
