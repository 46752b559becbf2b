"""Which column of a class list tells what, or why that cannot be told."""

from __future__ import annotations

import tomllib
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from grader.classroom.intake.class_folder import UnreadableClass
from grader.printable import listed, printable

Row = tuple[str, ...]

TOP = 20
"""So many rows at the top may be a title above the header."""

_ENOUGH = 3
"""From so many rows on, what all of them have and the first has not tells that it is a header."""

_SHOWN = 8


@dataclass(frozen=True, slots=True)
class Columns:
    """Which column holds what; `kind` is the system that writes such a list."""

    kind: str
    places: Mapping[str, int]

    def value(self, role: str, cells: Sequence[str]) -> str:
        """What the row says there; "" where it has no such column."""
        place = self.places.get(role)
        if place is None or place >= len(cells):
            return ""
        return unicodedata.normalize("NFC", cells[place]).strip()

    def described(self, header: Row) -> str:
        """How the columns were read, as a sentence."""
        read = [
            f"{role} from {_named(header[place]) if header else f'column {place + 1}'}"
            for role, place in self.places.items()
        ]
        return f"The class list was read as {listed(read)}."


def _plain(text: str) -> str:
    folded = unicodedata.normalize("NFC", text).casefold()
    return "".join(character for character in folded if character.isalnum())


_WORDS = tomllib.loads((Path(__file__).parent / "roster_columns.toml").read_text("utf-8"))
_ROLES: dict[str, str] = {_plain(word): role for role, words in _WORDS.items() for word in words}

ROLES = tuple(_WORDS)
"""What a column may be."""


def columns_in(
    rows: Sequence[Row], wanted: Mapping[str, str], where: str
) -> tuple[Columns, Row, Sequence[Row]]:
    """The columns, the header (empty where there is none) and the rows below it.

    Args:
        rows: the table, which is not empty.
        wanted: for roles the name or the number of the column, in place of what the header says.
        where: the file, for sentences.

    Raises:
        UnreadableClass: it cannot be told which column is which; the message says what was found
            and what would be understood.
    """
    filled = [number for number, row in enumerate(rows) if any(map(str.strip, row))]
    first = filled[0]
    header, below = rows[first], rows[first + 1 :]
    known = _columns_of(header)
    numbered = bool(wanted) and all(_is_number(name, header) for name in wanted.values())
    if not known and (numbered or not wanted):
        _refuse_header_below(rows, filled[1:TOP], where)
    if wanted:
        places = {role: _place(role, name, header, where) for role, name in wanted.items()}
        kept = known.places.items() if known else ()
        merged = {role: place for role, place in kept if place not in places.values()} | places
        columns = Columns(known.kind if known else "plain", merged)
        return (columns, (), rows) if numbered and not known else (columns, header, below)
    if known:
        return known, header, below
    if not is_a_student([rows[number] for number in filled]):
        raise UnreadableClass(
            f"Which column of {where} is which cannot be told. It begins with "
            f"{first_cells(header)}. Understood are headers such as {_understood()}, the class "
            "lists of Canvas, Moodle, Gradescope and nbgrader as they are exported, and one id a "
            f"line. Say which column is which: --roster-columns {_example(header)}; where "
            "there is no header, number them: --roster-columns id=1,name=2."
        )
    return _columns_without_header(rows), (), rows


def _refuse_header_below(rows: Sequence[Row], numbers: Sequence[int], where: str) -> None:
    for number in numbers:
        columns = _columns_of(rows[number])
        if columns and (len(columns.places) > 1 or len(rows[number]) == 1):
            raise UnreadableClass(
                f"{where} has its header in line {number + 1} ({first_cells(rows[number])}), below "
                "something else: delete the lines above it."
            )


def _place(role: str, name: str, header: Row, where: str) -> int:
    places = [place for place, cell in enumerate(header) if _plain(cell) == _plain(name)]
    if not places and _is_number(name, header):
        return int(name) - 1
    if len(places) != 1:
        how = "more than one column is" if places else "no column is"
        raise UnreadableClass(
            f"--roster-columns {role}={printable(name)}: in {where} {how} called that. It begins "
            f"with {first_cells(header)}; columns can be numbered, too, from 1 to {len(header)}."
        )
    return places[0]


def _is_number(name: str, header: Row) -> bool:
    return name.isdecimal() and 1 <= int(name) <= len(header)


def _named(cell: str) -> str:
    return repr(printable(cell)[:40])


def first_cells(row: Row) -> str:
    """The first cells of a row, as sentences name them."""
    return listed([_named(cell) for cell in row], most=_SHOWN)


def _understood() -> str:
    return listed([_named(_WORDS[role][0]) for role in ("id", "login", "email", "name")], "or")


def _example(header: Row) -> str:
    names = [printable(cell) for cell in header if cell.strip()]
    pairs = zip(("id", "name"), names, strict=False)
    return ",".join(f"{role}={name}" for role, name in pairs)


def _columns_of(row: Sequence[str]) -> Columns | None:
    """The columns, if the row is a header."""
    names = [_plain(cell) for cell in row]
    places: dict[str, int] = {}
    for place, name in enumerate(names):
        role = _ROLES.get(name)
        if role:
            places.setdefault(role, place)
    if not places or any("@" in cell for cell in row):
        return None
    known = set(names)
    if "sisloginid" in known or {"student", "id", "section"} <= known:
        kind = "canvas"
    elif "id" in known and ("lmsuserid" in known or {"first_name", "last_name"} <= set(row)):
        kind = "nbgrader"
    elif "sid" in known:
        kind = "gradescope"
    elif "participant" in places or ("first" in places and "last" in places):
        kind = "moodle"
    else:
        kind = "plain"
    return Columns(kind, places)


def is_a_student(rows: Sequence[Row]) -> bool:
    """Whether the first row is a student like the others, and no header in unknown words.

    An address is in no header. Where all rows below have a digit, or are numbers, in a column in
    which the first is otherwise, that is a header. Of several columns the first has to look like
    an id with a number in it: "user,who" and "ada,Ada" look the same.
    """
    first, *below = rows
    if any("@" in cell for cell in first):
        return True
    for place, cell in enumerate(first):
        others = [row[place].strip() for row in below if place < len(row) and row[place].strip()]
        if cell.strip() and len(others) >= _ENOUGH:
            for has in (_has_digit, str.isdecimal, _has_address):
                if has(cell.strip()) not in map(has, others):
                    return False
    return max(map(len, rows)) == 1 or _has_digit(first[0])


def _has_digit(cell: str) -> bool:
    return any(map(str.isdecimal, cell))


def _has_address(cell: str) -> bool:
    return "@" in cell


def _columns_without_header(rows: Sequence[Sequence[str]]) -> Columns:
    """The columns of a list that says nothing of them: an id, then perhaps a name, an address."""
    addresses = Counter(n for row in rows for n, cell in enumerate(row) if _has_address(cell))
    places = {"id": 0}
    if addresses:
        places["email"] = min(addresses, key=lambda place: (-addresses[place], place))
    names = (place for place in range(1, max(map(len, rows))) if place != places.get("email"))
    if (name := next(names, None)) is not None:
        places["name"] = name
    return Columns("plain", places)
