"""`canvas.csv` and `moodle.csv`: the grades as those platforms import them."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from pathlib import Path

from grader.gradebook.csv_cells import id_cell, text_cell
from grader.gradebook.points import points_text
from grader.gradebook.results_file import OUTCOMES
from grader.gradebook.table import Cell, Row, Table
from grader.gradebook.whole_file import whole_file
from grader.intake.class_folder import ClassFolder, Roster, Student
from grader.reports import wording
from grader.verdict import EARNS_POINTS

CANVAS_COLUMNS = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section")
_CANVAS_OPTIONAL = ("LastName", "FirstName", "Integration ID", "Root Account")
_POINTS_POSSIBLE = "Points Possible"

MOODLE_COLUMNS = ("Identifier", "Full name", "ID number", "Email address")
_GRADE, _FEEDBACK, _MAXIMUM = "Grade", "Feedback comments", "Maximum Grade"

_NAMES = frozenset(
    {"student", "fullname", "firstname", "lastname", "surname", "section", "department"}
)
"""Columns of people's own words, by which no platform finds a student."""

_MOST_NAMED = 8

# A notebook that did not come, or cannot be read, has an empty cell: an import then leaves what
# the platform has, and whether nothing is worth 0 is the instructor's to say. There is no
# byte-order mark but where the platform's own file had one: these files are read by programs.


def write_canvas(table: Table, class_folder: ClassFolder, path: Path) -> None:
    """Write the grades for Canvas's "Import Grades".

    From an export of Canvas's gradebook as the class list come its identifying columns, its rows
    in their order, and its own columns of assignments whose names hold a notebook's, so that
    grades arrive where they belong ("01_atomic_backprop (4711)"). Without one, a student's id is
    taken for the login.
    """
    roster = _roster(class_folder, "canvas")
    known = (*CANVAS_COLUMNS, *_CANVAS_OPTIONAL)
    header = [name for name in roster.header if name in known] if roster else [*CANVAS_COLUMNS]
    assignments = [_assignment(column.notebook, roster) for column in table.columns]
    possible = [points_text(column.max_points) for column in table.columns]

    lines = [[*header, *assignments]]
    above = list(roster.above) if roster else []
    if not any(_is_points_possible(cells) for cells in above):
        above.append((f"    {_POINTS_POSSIBLE}",))
    for title in above:
        own = [_at(roster, title, name) for name in (*header, *assignments)]
        own[0] = own[0] or title[0]  # the row that was not in the class list
        if _is_points_possible(title):
            there = zip(own[len(header) :], possible, strict=True)
            own[len(header) :] = [old if old.strip() else new for old, new in there]
        lines.append(own)
    for cells, row in _rows(table, roster):
        grades = [_grade(cell) for cell in row.cells] if row else [""] * len(assignments)
        if cells is None:
            known_cells = _canvas_cells(row.student) if row else {}
            lines.append([*(known_cells.get(name, "") for name in header), *grades])
        else:
            lines.append([*(_safe(name, _at(roster, cells, name)) for name in header), *grades])
    _write(path, lines, roster)


def write_moodle(table: Table, class_folder: ClassFolder, path: Path) -> None:
    """Write the grades for Moodle: its offline grading worksheet, or "Grades > Import".

    From a worksheet as the class list come all its columns and rows, with `Grade` and `Feedback
    comments` filled in; points are scaled to its `Maximum Grade`, which Moodle's import insists
    on. Any other list of Moodle's gets a column for each notebook too, its own where it has one,
    and `Grade` is the sum.
    """
    roster = _roster(class_folder, "moodle")
    header = list(roster.header) if roster else [*MOODLE_COLUMNS]
    worksheet = roster is not None and MOODLE_COLUMNS[0] in header
    columns = [] if worksheet else table.columns
    notebooks = [_assignment(column.notebook, roster) for column in columns]
    header += [name for name in (*notebooks, _GRADE, _FEEDBACK) if name not in header]
    lines = [header, *([*cells] for cells in (roster.above if roster else ()))]
    for cells, row in _rows(table, roster):
        if cells is None:
            own = _moodle_cells(row.student) if row else {}
        else:
            own = {name: _safe(name, _at(roster, cells, name)) for name in header}
        if row:
            own |= dict(zip(notebooks, map(_grade, row.cells), strict=False))
            own[_GRADE] = _scaled(row, own.get(_MAXIMUM, "")) if row.graded else ""
            own[_FEEDBACK] = feedback(row, table)
        lines.append([own.get(name, "") for name in header])
    _write(path, lines, roster)


def feedback(row: Row, table: Table) -> str:
    """A comment for the student: points and what to mend, a sentence a notebook."""
    sentences = []
    for column, cell in zip(table.columns, row.cells, strict=True):
        points = f"{points_text(cell.points)} of {points_text(cell.max_points)} points"
        if cell.counts is None:
            sentences.append(f"{column.notebook}: {cell.status}.")
            continue
        verdicts = zip(cell.counts.gradients, cell.counts.outcomes, strict=True)
        outcomes = {name: OUTCOMES[letter] for name, letter in verdicts}
        mend = [
            f"{name} ({wording.word(outcome)})"
            for name, outcome in outcomes.items()
            if outcome not in EARNS_POINTS
        ]
        further = [f"{len(mend) - _MOST_NAMED} more"] if len(mend) > _MOST_NAMED else []
        said = f"; to mend: {', '.join([*mend[:_MOST_NAMED], *further])}" if mend else ""
        late = " (late)" if cell.counts.late else ""
        sentences.append(f"{column.notebook}{late}: {points}{said}.")
    return text_cell(" ".join(sentences))


def _roster(class_folder: ClassFolder, kind: str) -> Roster | None:
    roster = class_folder.roster
    return roster if roster and roster.kind == kind and roster.header else None


def _rows(table: Table, roster: Roster | None) -> Iterator[tuple[Sequence[str] | None, Row | None]]:
    """The class list's rows in its order, then everybody who is not in it."""
    rows = {row.student.id: row for row in table.rows}
    listed = set()
    for line in roster.rows if roster else ():
        listed.add(line.student)
        yield line.cells, rows.get(line.student)
    yield from ((None, row) for id_, row in rows.items() if id_ not in listed)


def _assignment(notebook: str, roster: Roster | None) -> str:
    """The class list's own column for a notebook, or else the notebook's name."""
    wanted = _letters(notebook)
    header = roster.header if roster else ()
    return next((name for name in header if wanted in _letters(name)), notebook)


def _letters(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "", text.lower())


def _is_points_possible(cells: Sequence[str]) -> bool:
    return bool(cells) and cells[0].strip() == _POINTS_POSSIBLE


def _at(roster: Roster | None, cells: Sequence[str], name: str) -> str:
    if roster is None or name not in roster.header:
        return ""
    index = roster.header.index(name)
    return cells[index] if index < len(cells) else ""


def _safe(column: str, cell: str) -> str:
    return text_cell(cell) if _letters(column) in _NAMES else id_cell(cell)


def _canvas_cells(student: Student) -> dict[str, str]:
    return {
        "Student": text_cell(student.name or student.id),
        "LastName": text_cell(student.name or student.id),
        "SIS Login ID": id_cell(student.id),
    }


def _moodle_cells(student: Student) -> dict[str, str]:
    return {
        "Identifier": id_cell(student.extra.get("Identifier", student.id)),
        "Full name": text_cell(student.name or student.id),
        "ID number": id_cell(student.extra.get("ID number", student.id)),
        "Email address": id_cell(student.email),
    }


def _grade(cell: Cell) -> str:
    return points_text(cell.points) if cell.counts else ""


def _scaled(row: Row, maximum: str) -> str:
    try:
        most = Fraction(Decimal(maximum.strip().replace(",", ".")))
    except (InvalidOperation, ValueError, OverflowError):
        return points_text(row.points)
    if not row.max_points or most <= 0:
        return points_text(row.points)
    return points_text(round(row.points / row.max_points * most, 2))


def _write(path: Path, lines: Sequence[Sequence[str]], roster: Roster | None) -> None:
    encoding, newline, delimiter, sep = "utf-8", "\r\n", ",", ""
    if roster is not None:
        encoding, newline, delimiter, sep = (
            roster.encoding,
            roster.newline,
            roster.delimiter,
            roster.sep,
        )
    with whole_file(path, encoding) as file:
        if sep:
            file.write(sep.rstrip("\r\n") + newline)
        csv.writer(file, delimiter=delimiter, lineterminator=newline).writerows(lines)
