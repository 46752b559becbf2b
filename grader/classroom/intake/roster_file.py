"""Read a class list from the file that a platform exported."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from grader.classroom.intake.class_folder import Roster, RosterRow, Student, UnreadableClass
from grader.classroom.intake.csv_file import read_csv_file
from grader.classroom.notices import Notice
from grader.classroom.spreadsheet import CsvForm, unescaped
from grader.printable import listed, printable
from grader.submission.notebook_file import shown

Row = tuple[str, ...]

ID_ORDER = ("id", "login", "sis", "participant", "email", "name")
"""The first of these roles that a row has gives the student's id."""

_TEST_STUDENT = frozenset({"student, test", "test student"})
"""Canvas's own account for "Student View", which is in every course's gradebook."""

_TOP = 20
"""The most rows that a title above the header may have."""

_ENOUGH = 3
"""The least number of rows whose common features, if the first row lacks them, make it a header."""

_SHOWN = 8

_NUMBER = re.compile(r"\d+\.0|\d([.,]\d+)?E\+\d+", re.IGNORECASE)
"""What a spreadsheet writes for an id that it took for a number."""


def _plain(text: str) -> str:
    folded = unicodedata.normalize("NFC", text).casefold()
    return "".join(character for character in folded if character.isalnum())


_WORDS = tomllib.loads((Path(__file__).parent / "roster_columns.toml").read_text("utf-8"))
_ROLES: dict[str, str] = {_plain(word): role for role, words in _WORDS.items() for word in words}

ROLES = tuple(_WORDS)
"""What a column may be."""

_GITHUB = "githubusername"
"""In GitHub Classroom's list, this column is beside "identifier", which is the student's id."""

_KINDS = {
    "canvas": ({"sisloginid"}, {"student", "id", "section"}),
    "nbgrader": ({"id", "lmsuserid"}, {"id", "first_name", "last_name"}),
    "gradescope": ({"sid"},),
    "moodle": ({"role participant"}, {"role first", "role last"}),
}
"""The platform that writes a list, by cells of its header or the roles of its columns."""


@dataclass(frozen=True, slots=True)
class ClassList:
    """The roster, and the names under which its students can be looked up.

    `known` holds the values of the roles in `ID_ORDER` for each student, by id and in the roster's
    order. `tester` is the id of Canvas's Test Student, who is looked up like the others but is not
    a student. `columns` says how the columns were read.
    """

    roster: Roster
    known: Mapping[str, Mapping[str, str]]
    notices: tuple[Notice, ...] = ()
    tester: str = ""
    columns: str = ""

    @property
    def students(self) -> tuple[Student, ...]:
        """The students, in the roster's order."""
        return tuple(
            Student(id_, said["name"], said["email"], tuple(filter(None, said.values())))
            for id_, said in self.known.items()
        )


NO_LIST = ClassList(Roster("", (), (), (), CsvForm()), {})
"""The list of a class that has none."""


def read_roster(path: Path, wanted: Mapping[str, str] = MappingProxyType({})) -> ClassList:
    """Read a list of Canvas, Moodle, nbgrader or Gradescope, or one with an id on each line.

    Args:
        path: the list.
        wanted: for roles such as "id" or "name", the name or the number of their column.

    Raises:
        UnreadableClass: the file is not such a list, or names no student; the message is a
            sentence.
    """
    table, where, notices = read_csv_file(path, "class list"), shown(path), list[Notice]()
    if table.form.encoding in {"cp1252", "latin-1"}:
        notices.append(Notice("encoding", list=where))
    rows = [tuple(map(unescaped, row)) for row in table.rows]
    filled = [number for number, row in enumerate(rows) if any(map(str.strip, row))]
    if not filled:
        raise UnreadableClass(f"{where} is empty: export the class list again.")
    top, is_student = rows[filled[0]], _is_a_student([rows[number] for number in filled])
    roles = _roles_in(top)
    numbered = bool(wanted) and all(_is_number(name, top) for name in wanted.values())
    if not roles and (numbered or not wanted):
        _refuse_header_below(rows, filled[1:_TOP], where)
    if not (roles or wanted or is_student):
        raise UnreadableClass(_unclear(top, where))
    if numbered and not (roles or is_student):
        notices.append(Notice("numbered-header", list=where, cells=_first_cells(top)))
    named = {role: _place(role, name, top, where) for role, name in wanted.items()}
    others = roles or ({} if wanted else _places_without_header(rows))
    places = {role: n for role, n in others.items() if n not in named.values()} | named
    has_header = roles or (wanted and not numbered)
    header, below = (top, rows[filled[0] + 1 :]) if has_header else ((), rows)
    kind = _kind_of(top, roles)
    values = [_values(cells, places) for cells in below]
    above = 0
    if kind == "canvas":  # its own rows, which speak of its columns, have no ID
        strong = (n for n, said in enumerate(values) if said["id"] or said["login"] or said["sis"])
        above = next(strong, len(below))
    known: dict[str, dict[str, str]] = {}
    ids, wishes = [], Counter[str]()
    for said in values[above:]:
        id_ = wish = next((said[role] for role in ID_ORDER if said[role]), "")
        while (other := known.get(id_)) and _names(other) != _names(said):
            id_ += "~2"  # two people: one row each, whoever typed the number wrong
        if id_:
            wishes[wish] += 1
            known.setdefault(id_, said)
        ids.append(id_)
    if not known:
        raise UnreadableClass(f"{where} names no student: is it the class list?")
    if several := [wish for wish, count in wishes.items() if count > 1]:
        notices.append(Notice("same-id-apart" if known.keys() - wishes else "same-id", ids=several))
    lines = [*zip(below[above:], ids, strict=True)]
    if nobody := sum(not id_ and any(map(str.strip, cells)) for cells, id_ in lines):
        notices.append(Notice("nobody", lines=nobody))
    if damaged := [said["id"] for said in known.values() if _NUMBER.fullmatch(said["id"])]:
        notices.append(Notice("numbers", ids=len(damaged), example=printable(damaged[0])))
    testers = (id_ for id_, said in known.items() if said["name"].casefold() in _TEST_STUDENT)
    tester = next(testers, "") if kind == "canvas" else ""
    kept = (RosterRow(cells, "" if id_ == tester else id_) for cells, id_ in lines)
    roster = Roster(kind, header, tuple(below[:above]), tuple(kept), table.form)
    read = [
        f"{role} from {_named(header[place]) if header else f'column {place + 1}'}"
        for role, place in places.items()
    ]
    columns = f"The class list was read as {listed(read)}."
    return ClassList(roster, known, tuple(notices), tester, columns)


def _values(cells: Row, places: Mapping[str, int]) -> dict[str, str]:
    told = {
        role: unicodedata.normalize("NFC", cells[place]).strip()
        for role, place in places.items()
        if place < len(cells)
    }
    values = {role: told.get(role, "") for role in ID_ORDER}
    parts = (told.get("first"), told.get("last"))
    values["name"] = values["name"] or " ".join(filter(None, parts))
    if "@" in values["id"]:
        values["email"] = values["email"] or values["id"]
    return values


def _names(said: Mapping[str, str]) -> tuple[str, str]:
    return said["name"].casefold(), said["email"].casefold()


def _roles_in(row: Row) -> dict[str, int]:
    """The column of each role, if the row is a header; otherwise nothing."""
    if any("@" in cell for cell in row):
        return {}
    places: dict[str, int] = {}
    for place, cell in enumerate(row):
        if role := _ROLES.get(_plain(cell)):
            places.setdefault(role, place)
    if _GITHUB in map(_plain, row) and "participant" in places:
        places.setdefault("id", places.pop("participant"))
    return places


def _kind_of(header: Row, roles: Mapping[str, int]) -> str:
    if not roles:
        return "plain"
    said = {*header, *map(_plain, header), *(f"role {role}" for role in roles)}
    fits = (kind for kind, marks in _KINDS.items() if any(mark <= said for mark in marks))
    return next(fits, "plain")


def _refuse_header_below(rows: Sequence[Row], numbers: Sequence[int], where: str) -> None:
    for number in numbers:
        roles = _roles_in(rows[number])
        if len(roles) > 1 or (roles and len(rows[number]) == 1):
            raise UnreadableClass(
                f"{where} has its header in line {number + 1} ({_first_cells(rows[number])}), "
                "below something else: delete the lines above it."
            )


def _place(role: str, name: str, header: Row, where: str) -> int:
    places = [place for place, cell in enumerate(header) if _plain(cell) == _plain(name)]
    if not places and _is_number(name, header):
        return int(name) - 1
    if len(places) != 1:
        how = "more than one column is" if places else "no column is"
        raise UnreadableClass(
            f"--roster-columns {role}={printable(name)}: in {where} {how} called that. It begins "
            f"with {_first_cells(header)}; columns can be numbered, too, from 1 to {len(header)}."
        )
    return places[0]


def _is_number(name: str, header: Row) -> bool:
    return name.isdecimal() and 1 <= int(name) <= len(header)


def _named(cell: str) -> str:
    return repr(printable(cell)[:40])


def _first_cells(row: Row) -> str:
    return listed([_named(cell) for cell in row], most=_SHOWN)


def _unclear(top: Row, where: str) -> str:
    understood = listed(
        (_named(_WORDS[role][0]) for role in ("id", "login", "email", "name")), "or"
    )
    names = [printable(cell) for cell in top if cell.strip()]
    example = ",".join(map("=".join, zip(("id", "name"), names, strict=False)))
    return (
        f"Which column of {where} is which cannot be told. It begins with {_first_cells(top)}. "
        f"Understood are headers such as {understood}, the class lists of Canvas, Moodle, "
        "Gradescope and nbgrader as they are exported, and one id a line. Say which column is "
        f"which: --roster-columns {example}; where there is no header, number them: "
        "--roster-columns id=1,name=2."
    )


def _is_a_student(rows: Sequence[Row]) -> bool:
    """True if the first row is a student like the others, and not a header in unknown words.

    A header contains no address. If all rows below have a digit, or are numbers, in a column in
    which the first row has none, the first row is a header. If there are several columns, the first
    cell has to look like an id with a number, because "user,who" and "ada,Ada" look the same.
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


def _places_without_header(rows: Sequence[Row]) -> dict[str, int]:
    """The columns of a list without a header: an id, and perhaps a name and an address."""
    addresses = Counter(n for row in rows for n, cell in enumerate(row) if _has_address(cell))
    places = {"id": 0}
    if addresses:
        places["email"] = min(addresses, key=lambda place: (-addresses[place], place))
    names = (place for place in range(1, max(map(len, rows))) if place != places.get("email"))
    if (name := next(names, None)) is not None:
        places["name"] = name
    return places
