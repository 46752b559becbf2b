"""Which columns of a platform's own list the grades go into, and what they are scaled to."""

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
"""As Moodle writes it since its names of columns have one capital; it had two."""

_IDENTIFYING = frozenset({*CANVAS_COLUMNS, *CANVAS_OPTIONAL, *MOODLE_COLUMNS})


class UnknownColumn(UserError):
    """A column cannot take the points: Canvas has none of that name, or it is another's."""


Scale = Fraction | Literal["platform", "none"]
"""What all points together are scaled to: a number, the platform's own maximum, or nothing."""


_WORDS: Mapping[str, Scale] = {"platform": "platform", "none": "none"}


def read_scale(text: str) -> Scale:
    """The scale that is written "platform", "none" or as a number.

    Raises:
        ValueError: it is none of these; the message is a sentence.
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
    """What the platforms' files get.

    `canvas_columns` says into which of Canvas's columns a notebook's points go; under "", into
    which the sum of all does.
    """

    scale: Scale = "platform"
    canvas_columns: Mapping[str, str] = field(default_factory=dict)


AS_THEY_ARE = PlatformForm()


def is_canvas_export(roster: Roster | None) -> TypeGuard[Roster]:
    """True for Canvas's own gradebook as the class list: `canvas.csv` is made from it."""
    return roster is not None and roster.kind == "canvas"


def is_moodle_worksheet(roster: Roster | None) -> TypeGuard[Roster]:
    """True for Moodle's grading worksheet as the class list: `moodle.csv` is made from it."""
    return roster is not None and roster.kind == "moodle" and MOODLE_COLUMNS[0] in roster.header


def refuse_unknown_columns(form: PlatformForm, roster: Roster | None) -> None:
    """Raise UnknownColumn where a column named for Canvas cannot take points in the class list."""
    if not form.canvas_columns:
        return
    if not is_canvas_export(roster):
        raise UnknownColumn(
            "--canvas-column needs Canvas's gradebook, as it is exported, for the --roster."
        )
    refuse_shared({who: own_column(name, roster) for who, name in form.canvas_columns.items()})


def refuse_shared(wanted: Mapping[str, str]) -> None:
    """Raise UnknownColumn where the columns of two notebooks are one; "" is all notebooks."""
    for name, number in Counter(wanted.values()).items():
        if number > 1:
            whose = listed([who or "all notebooks" for who, own in wanted.items() if own == name])
            raise UnknownColumn(
                f"Canvas's column {printable(name)!r} cannot take the points of {whose} apart: "
                "--canvas-column NOTEBOOK=COLUMN says where each goes."
            )


def own_column(name: str, roster: Roster) -> str:
    """The column that a person means: its name with or without Canvas's number in brackets."""
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
    """True if a class list has a column of just this name, but for Canvas's number."""
    return roster is not None and any(name in (each, _plain(each)) for each in roster.header)


def _called(name: str, columns: Collection[str]) -> list[str]:
    if name in columns:
        return [name]
    return [each for each in columns if letters(_plain(each)) == letters(name)]


def _plain(column: str) -> str:
    """The column's name without Canvas's number."""
    return re.sub(r"\s*\(\d+\)\s*\Z", "", column)


def _assignable(roster: Roster) -> list[str]:
    """The columns that points can go into: Canvas says of those that it computes "(read only)"."""
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
    """What a column's name is compared by."""
    return re.sub(r"[^a-z0-9]+", "", text.lower())


def is_points_possible(cells: tuple[str, ...]) -> bool:
    """True for the row of Canvas's that has each column's maximum."""
    return bool(cells) and cells[0].strip() == POINTS_POSSIBLE
