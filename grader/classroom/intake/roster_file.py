"""A class list read from the file that a system exported."""

from __future__ import annotations

import csv
import io
import json
import tomllib
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from grader.classroom.intake.class_folder import (
    Roster,
    RosterRow,
    Student,
    UnreadableClass,
    explained,
)
from grader.classroom.spreadsheet import unescaped
from grader.printable import listed, printable
from grader.submission.notebook_file import shown

ID_ORDER = ("id", "login", "sis", "participant", "email", "name")
"""The first of these that a row has is what its student is called."""

MAX_BYTES = 64 * 1024 * 1024
_DELIMITERS = ",;\t|"


@dataclass(frozen=True, slots=True)
class ClassList:
    """The roster, its students in its order, and under which names they may be looked up.

    `known` has for each student the values of the roles of `ID_ORDER`.
    """

    roster: Roster
    students: tuple[Student, ...]
    known: tuple[dict[str, str], ...]
    notices: tuple[str, ...] = ()


def read_roster(path: Path) -> ClassList:
    """Read a list of Canvas, Moodle, nbgrader, Gradescope, or one id a line.

    Raises:
        UnreadableClass: if it is no such list, or names nobody; the message is a sentence.
    """
    text, encoding = _decode(_read(path), path)
    sep, body = _split_sep(text)
    delimiter = sep.strip()[4:5] or _delimiter(body)
    newline = "\r\n" if "\r\n" in body else "\r" if "\r" in body and "\n" not in body else "\n"
    try:
        reader = csv.reader(io.StringIO(body, newline=""), delimiter=delimiter)
        rows = [tuple(map(unescaped, row)) for row in reader]
    except csv.Error as error:
        raise UnreadableClass(
            f"{shown(path)} is not a table of text (CSV): {printable(str(error))}."
        ) from None
    filled = [number for number, row in enumerate(rows) if any(cell.strip() for cell in row)]
    if not filled:
        raise UnreadableClass(f"{shown(path)} is empty: export the class list again.")
    columns, header = _columns_of(rows[filled[0]]), rows[filled[0]]
    below = rows[filled[0] + 1 :]
    if columns is None:
        columns, header, below = _columns_without_header(rows), (), rows
    students_at = _rows_above(columns, below)
    above, body_rows = below[:students_at], below[students_at:]
    students, known, student_rows, notices = _students(body_rows, columns)
    if not students:
        raise UnreadableClass(f"{shown(path)} names no student: is it the class list?")
    if encoding in {"cp1252", "latin-1"}:
        notices.insert(0, f"{shown(path)} is not UTF-8: read as Windows-1252 (Western European).")
    roster = Roster(
        columns.kind, header, tuple(above), student_rows, delimiter, encoding, newline, sep
    )
    return ClassList(roster, tuple(students), tuple(known), tuple(notices))


def _read(path: Path) -> bytes:
    with explained(f"The class list {shown(path)} cannot be opened"):
        if not path.is_file():
            why = "is a folder" if path.is_dir() else "is no file"
            raise UnreadableClass(f"The class list {shown(path)} {why}: name the CSV file.")
        if path.stat().st_size > MAX_BYTES:
            raise UnreadableClass(
                f"{shown(path)} is larger than {MAX_BYTES // 2**20} MB: is it the class list?"
            )
        return path.read_bytes()


def _decode(data: bytes, path: Path) -> tuple[str, str]:
    if data.startswith((b"PK\x03\x04", b"\xd0\xcf\x11\xe0")):
        raise UnreadableClass(f"{shown(path)} is a spreadsheet: save it as CSV and name that.")
    found = json.detect_encoding(data)  # by its mark, or by zeros among the first bytes
    for encoding in [found] if found != "utf-8" else ["utf-8", "cp1252", "latin-1"]:
        try:
            return data.decode(encoding), encoding
        except UnicodeDecodeError:
            continue
    raise UnreadableClass(f"{shown(path)} is damaged: it begins as {found} and breaks off.")


def _split_sep(text: str) -> tuple[str, str]:
    """Excel's first line "sep=;", if it is there, and the rest."""
    if text[:4].lower() != "sep=":
        return "", text
    line, _, rest = text.partition("\n")
    return line.rstrip("\r"), rest


def _delimiter(text: str) -> str:
    line = next((line for line in text.splitlines() if line.strip()), "")
    outside = "".join(line.split('"')[::2])
    return max(_DELIMITERS, key=outside.count)  # the first of them where there is none


def _rows_above(columns: Columns, rows: Sequence[tuple[str, ...]]) -> int:
    """How many rows, before the first student, speak of Canvas's columns: its own have no ID."""
    if columns.kind != "canvas":
        return 0
    return next(
        (
            number
            for number, row in enumerate(rows)
            if any(columns.value(role, row) for role in ("id", "login", "sis"))
        ),
        len(rows),
    )


def _students(
    rows: Sequence[tuple[str, ...]], columns: Columns
) -> tuple[list[Student], list[dict[str, str]], tuple[RosterRow, ...], list[str]]:
    students: dict[str, Student] = {}
    known: list[dict[str, str]] = []
    kept: list[RosterRow] = []
    twice: Counter[str] = Counter()
    nobody = 0
    for cells in rows:
        values = _values(cells, columns)
        wanted = next((values[role] for role in ID_ORDER if values[role]), "")
        if not wanted:
            nobody += any(cell.strip() for cell in cells)
            kept.append(RosterRow(cells, ""))
            continue
        student = Student(wanted, values["name"], values["email"])
        while (other := students.get(student.id)) and _names(other) != _names(student):
            # Two people: one row each, whoever typed the number wrong.
            student = replace(student, id=f"{student.id}~2")
        twice[wanted] += 1
        if student.id not in students:
            students[student.id] = student
            known.append(values)
        kept.append(RosterRow(cells, student.id))
    return list(students.values()), known, tuple(kept), list(_notices(twice, nobody))


def _values(cells: tuple[str, ...], columns: Columns) -> dict[str, str]:
    values = {role: columns.value(role, cells) for role in ID_ORDER}
    parts = (columns.value("first", cells), columns.value("last", cells))
    values["name"] = values["name"] or " ".join(filter(None, parts))
    if "@" in values["id"]:
        values["email"] = values["email"] or values["id"]
    return values


def _names(student: Student) -> tuple[str, str]:
    return student.name.casefold(), student.email.casefold()


def _notices(ids: Counter[str], nobody: int) -> Iterator[str]:
    several = [user for user, count in ids.items() if count > 1]
    if several:
        yield (
            f"In the class list more than one line has the id "
            f"{listed(map(printable, several), most=5)}: lines with another name or address are "
            "kept as students of their own, with ~2 behind the id."
        )
    if nobody:
        yield f"{nobody} line(s) of the class list have neither an id nor a name."


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


def _plain(text: str) -> str:
    folded = unicodedata.normalize("NFC", text).casefold()
    return "".join(character for character in folded if character.isalnum())


_WORDS = tomllib.loads((Path(__file__).parent / "roster_columns.toml").read_text("utf-8"))
_ROLES: dict[str, str] = {_plain(word): role for role, words in _WORDS.items() for word in words}


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


def _columns_without_header(rows: Sequence[Sequence[str]]) -> Columns:
    """The columns of a list that says nothing of them: an id, then perhaps a name, an address."""
    width = max(map(len, rows), default=0)
    address = {
        place: sum("@" in row[place] for row in rows if place < len(row)) for place in range(width)
    }
    places = {"id": 0}
    email = max(address, key=lambda place: address[place], default=0)
    if address.get(email):
        places["email"] = email
    names = (place for place in range(1, width) if place != places.get("email"))
    if (name := next(names, None)) is not None:
        places["name"] = name
    return Columns("plain", places)
