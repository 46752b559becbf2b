"""A class list read from the file that a system exported."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

from grader.classroom.intake.class_folder import Roster, RosterRow, Student, UnreadableClass
from grader.classroom.intake.csv_file import read_csv_file
from grader.classroom.intake.roster_columns import Columns, columns_in, first_cells, is_a_student
from grader.classroom.spreadsheet import unescaped
from grader.printable import counted, listed, printable
from grader.submission.notebook_file import shown

ID_ORDER = ("id", "login", "sis", "participant", "email", "name")
"""The first of these that a row has is what its student is called."""

_TEST_STUDENT = frozenset({"student, test", "test student"})
"""Canvas's own account for "Student View", which every course's gradebook lists."""


@dataclass(frozen=True, slots=True)
class ClassList:
    """The roster, its students in its order, and under which names they may be looked up.

    `known` has for each student the values of the roles of `ID_ORDER`. `tester` is the id of
    Canvas's Test Student, who is looked up like the others, but is no student. `columns` says how
    the columns were read.
    """

    roster: Roster
    students: tuple[Student, ...]
    known: tuple[dict[str, str], ...]
    notices: tuple[str, ...] = ()
    tester: str = ""
    columns: str = ""


def read_roster(path: Path, wanted: Mapping[str, str] = MappingProxyType({})) -> ClassList:
    """Read a list of Canvas, Moodle, nbgrader, Gradescope, or one id a line.

    Args:
        path: the list.
        wanted: for roles such as "id" or "name", the name or the number of their column.

    Raises:
        UnreadableClass: if it is no such list, or names nobody; the message is a sentence.
    """
    table = read_csv_file(path, "class list")
    rows = [tuple(map(unescaped, row)) for row in table.rows]
    if not any(cell.strip() for row in rows for cell in row):
        raise UnreadableClass(f"{shown(path)} is empty: export the class list again.")
    columns, header, below = columns_in(rows, wanted, shown(path))
    students_at = _rows_above(columns, below)
    above, body_rows = below[:students_at], below[students_at:]
    students, known, student_rows, notices = _students(body_rows, columns)
    testers = [who.id for who in students if who.name.casefold() in _TEST_STUDENT]
    tester = testers[0] if testers and columns.kind == "canvas" else ""
    student_rows = tuple(
        replace(row, student="") if tester and row.student == tester else row
        for row in student_rows
    )
    if not students:
        raise UnreadableClass(f"{shown(path)} names no student: is it the class list?")
    filled = [row for row in rows if any(map(str.strip, row))]
    if wanted and not header and not is_a_student(filled):
        notices.insert(
            0,
            f"The first line of {shown(path)} ({first_cells(filled[0])}) is read as a student, "
            "since --roster-columns has numbers: if it is a header, give its words instead.",
        )
    if table.form.encoding in {"cp1252", "latin-1"}:
        notices.insert(0, f"{shown(path)} is not UTF-8: read as Windows-1252 (Western European).")
    roster = Roster(columns.kind, header, tuple(above), student_rows, table.form)
    return ClassList(
        roster, tuple(students), tuple(known), tuple(notices), tester, columns.described(header)
    )


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
    notices = list(_notices(twice, nobody, apart=any(user not in twice for user in students)))
    return list(students.values()), known, tuple(kept), notices


def _values(cells: tuple[str, ...], columns: Columns) -> dict[str, str]:
    values = {role: columns.value(role, cells) for role in ID_ORDER}
    parts = (columns.value("first", cells), columns.value("last", cells))
    values["name"] = values["name"] or " ".join(filter(None, parts))
    if "@" in values["id"]:
        values["email"] = values["email"] or values["id"]
    return values


def _names(student: Student) -> tuple[str, str]:
    return student.name.casefold(), student.email.casefold()


def _notices(ids: Counter[str], nobody: int, *, apart: bool) -> Iterator[str]:
    several = [user for user, count in ids.items() if count > 1]
    if several:
        what = (
            "lines with another name or address are kept as students of their own, with ~2 behind "
            "the id."
            if apart
            else "no name or address tells these lines apart, and each such id is one student."
        )
        yield (
            "In the class list more than one line has the id "
            f"{listed(map(printable, several), most=5)}: {what}"
        )
    if nobody:
        yield f"{counted(nobody, 'line')} of the class list with neither an id nor a name."
