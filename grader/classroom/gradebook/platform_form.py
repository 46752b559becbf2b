"""Which columns of a platform's own list the grades go into, and what they are scaled to."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal, TypeGuard

from grader.classroom.gradebook.rubric import MOST, number_in, points_text
from grader.classroom.gradebook.table import Column, Table
from grader.classroom.intake.class_folder import ClassFolder, Roster
from grader.classroom.intake.platform_layouts import MOODLE
from grader.classroom.notices import Note, Notice
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


def factor(target: Fraction | None, most: Fraction) -> Fraction:
    """What points are multiplied with, of which `most` can be earned."""
    return Fraction(1) if target is None or not most else target / most


def read_scale(text: str) -> Scale:
    """The scale that is written "platform", "none" or as a number.

    Raises:
        ValueError: it is none of these; the message is a sentence.
    """
    if word := _WORDS.get(text):
        return word
    if (number := maximum_in(text)) is not None and number <= MOST:
        return number
    raise ValueError(f"{printable(text)!r} is no scale: write platform, none, or a number above 0.")


def maximum_in(text: str) -> Fraction | None:
    """The number above 0 that a platform, or a person, has written; None if there is none."""
    number = number_in(text)
    return number if number is not None and number > 0 else None


def graded_text(points: Fraction, factor: Fraction) -> str:
    """The grade that points become; whole where they are not scaled."""
    return points_text(points if factor == 1 else round(points * factor, 2))


@dataclass(frozen=True, slots=True)
class PlatformForm:
    """What the platforms' files get.

    `canvas_columns` says into which of Canvas's columns a notebook's points go; under "", into
    which the sum of all does.
    """

    scale: Scale = "platform"
    canvas_columns: Mapping[str, str] = field(default_factory=dict)


AS_THEY_ARE = PlatformForm()


@dataclass(frozen=True, slots=True)
class Assignment:
    """A column of Canvas's: whose points it takes, all notebooks' where `column` is None.

    `target` is what all of its points become, None where they stay as they are.
    """

    name: str
    column: Column | None
    most: Fraction
    platform: Fraction | None
    target: Fraction | None

    @property
    def factor(self) -> Fraction:
        """What points are multiplied with."""
        return factor(self.target, self.most)


def assignments(table: Table, roster: Roster, form: PlatformForm) -> list[Assignment]:
    """The columns that Canvas's file gets.

    Raises:
        UnknownColumn: one that was named is not in the list, or takes the points of two.
    """
    named = form.canvas_columns
    wanted: list[tuple[str, Column | None]] = []
    if "" in named:
        wanted.append((_own(named[""], roster), None))
    for column in table.columns:
        if column.notebook in named:
            wanted.append((_own(named[column.notebook], roster), column))
        elif "" not in named:
            wanted.append((column_for(column.notebook, roster), column))
    _refuse_shared([(name, column.notebook if column else "") for name, column in wanted])
    made = []
    for name, whose in wanted:
        most = whose.max_points if whose is not None else table.max_points
        possible = [roster.at(row, name) for row in roster.above if is_points_possible(row)]
        platform = maximum_in(possible[0]) if possible else None
        made.append(Assignment(name, whose, most, platform, target(form, platform, most, table)))
    return made


def target(
    form: PlatformForm, platform: Fraction | None, most: Fraction, table: Table
) -> Fraction | None:
    """The points that a column's `most` are scaled to; None where points stay as they are.

    `platform` is the column's maximum there, None where it is not known. `most` is scaled to itself
    then, so that a student who is excused from a part gets the share of the rest.
    """
    if form.scale == "none":
        return None
    if form.scale == "platform":
        return platform or most
    # That is what all notebooks together become.
    return form.scale * most / table.max_points if table.max_points else None


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
    _refuse_shared([(_own(name, roster), whose) for whose, name in form.canvas_columns.items()])


def _refuse_shared(wanted: Sequence[tuple[str, str]]) -> None:
    """Raise UnknownColumn where a column takes the points of two notebooks; "" is all of them."""
    for name, number in Counter(name for name, _ in wanted).items():
        if number > 1:
            whose = listed([each or "all notebooks" for column, each in wanted if column == name])
            raise UnknownColumn(
                f"Canvas's column {printable(name)!r} cannot take the points of {whose} apart: "
                "--canvas-column NOTEBOOK=COLUMN says where each goes."
            )


def about_platform(
    table: Table, class_folder: ClassFolder, form: PlatformForm, *, chosen: bool = False
) -> Iterator[str]:
    """Which notebooks have no column in Canvas's export, and which maximum is another.

    That of a platform may not be the points that can be earned, or not be known. `chosen` is True
    if the instructor has said which notebooks count.
    """
    roster, most = class_folder.roster, table.max_points
    if roster is None:
        return
    everything = [column.notebook for column in table.columns]
    columns = assignments(table, roster, form) if is_canvas_export(roster) else []
    if new := [each.name for each in columns if each.name not in roster.header]:
        yield Notice("no-column", columns=listed(new))
    if not most:
        return
    if class_folder.convention == MOODLE and not is_moodle_worksheet(roster):
        yield Notice("no-worksheet", column=repr(MOODLE_COLUMNS[0]))
    for each in columns:
        if each.platform is not None:
            whose = [each.column.notebook] if each.column is not None else everything
            name = f"Canvas's {each.name}"
            yield from _differs(name, each.platform, each.most, each.factor, whose, chosen)
    if is_moodle_worksheet(roster) and (name := roster.column(MAXIMUM)):
        written = {maximum_in(roster.at(row.cells, name)) for row in roster.rows}
        for maximum in sorted(each for each in written if each is not None):
            by = factor(target(form, maximum, most, table), most)
            yield from _differs("Moodle's", maximum, most, by, everything, chosen)


def _differs(
    whose: str, maximum: Fraction, most: Fraction, by: Fraction, notebooks: list[str], chosen: bool
) -> Iterator[str]:
    if maximum == most and by == 1:
        return
    are = "are" if len(notebooks) > 1 else "is"
    scaled = f"scaled to {points_text(round(most * by, 2))}" if by != 1 else "not scaled"
    which = "" if chosen else " --due-notebooks says which notebooks count."
    differ = "" if most * by == maximum else " The two differ: --scale platform mends that."
    kind = Notice if differ or which else Note
    yield kind(
        "maximum",
        whose=printable(whose),
        maximum=points_text(maximum),
        notebooks=f"{listed(notebooks)} {are}",
        most=points_text(most),
        scaled=scaled,
        mend=differ,
        which=which,
    )


def _own(name: str, roster: Roster) -> str:
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
