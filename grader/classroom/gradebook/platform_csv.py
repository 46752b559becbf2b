"""`canvas.csv` and `moodle.csv`: the grades as those platforms import them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from pathlib import Path

from grader.classroom.gradebook.grades_csv import id_cell, text_cell, write_csv
from grader.classroom.gradebook.rubric import points_text
from grader.classroom.gradebook.table import OUTCOMES, Cell, Row, Table
from grader.classroom.intake.class_folder import ClassFolder, Roster, Student
from grader.reports import wording
from grader.verdict import EARNS_POINTS

CANVAS_COLUMNS = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section")
_CANVAS_OPTIONAL = ("LastName", "FirstName", "Integration ID", "Root Account")
_POINTS_POSSIBLE = "Points Possible"

MOODLE_COLUMNS = ("Identifier", "Full name", "ID number", "Email address")
_IDENTIFYING = frozenset({*CANVAS_COLUMNS, *_CANVAS_OPTIONAL, *MOODLE_COLUMNS})
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
    roster = _roster(class_folder, "canvas", CANVAS_COLUMNS)
    known = (*CANVAS_COLUMNS, *_CANVAS_OPTIONAL)
    header = [name for name in roster.header if name in known]
    assignments = [_assignment(column.notebook, roster) for column in table.columns]
    possible = [points_text(column.max_points) for column in table.columns]

    lines = [[*header, *assignments]]
    above = list(roster.above)
    if not any(_is_points_possible(cells) for cells in above):
        above.append((f"    {_POINTS_POSSIBLE}",))
    for title in above:
        own = [_at(roster, title, name) for name in (*header, *assignments)]
        own[0] = own[0] or title[0]  # the row that was not in the class list
        if _is_points_possible(title):
            there = zip(own[len(header) :], possible, strict=True)
            own[len(header) :] = [old if old.strip() else new for old, new in there]
        lines.append(own)
    for row, cells in _rows(table, roster, _canvas_cells):
        grades = [_grade(cell) for cell in row.cells] if row else [""] * len(assignments)
        lines.append([*(cells.get(name, "") for name in header), *grades])
    write_csv(path, lines, roster)


def write_moodle(table: Table, class_folder: ClassFolder, path: Path) -> None:
    """Write the grades for Moodle: its offline grading worksheet, or "Grades > Import".

    From a worksheet as the class list come all its columns and rows, with `Grade` and `Feedback
    comments` filled in; points are scaled to its `Maximum Grade`, which Moodle's import insists
    on. Any other list of Moodle's gets a column for each notebook too, its own where it has one,
    and `Grade` is the sum.
    """
    roster = _roster(class_folder, "moodle", MOODLE_COLUMNS)
    header = list(roster.header)
    worksheet = roster is class_folder.roster and MOODLE_COLUMNS[0] in header
    columns = [] if worksheet else table.columns
    notebooks = [_assignment(column.notebook, roster) for column in columns]
    header += [name for name in (*notebooks, _GRADE, _FEEDBACK) if name not in header]
    lines = [header, *map(list, roster.above)]
    for row, cells in _rows(table, roster, _moodle_cells):
        if row:
            cells |= dict(zip(notebooks, map(_grade, row.cells), strict=False))
            cells[_GRADE] = _scaled(row, cells.get(_MAXIMUM, "")) if row.graded else ""
            cells[_FEEDBACK] = feedback(row)
        lines.append([cells.get(name, "") for name in header])
    write_csv(path, lines, roster)


def feedback(row: Row) -> str:
    """A comment for the student: points and what to mend, a sentence a notebook."""
    sentences = []
    for cell in row.cells:
        points = f"{points_text(cell.points)} of {points_text(cell.column.max_points)} points"
        if cell.counts is None:
            sentences.append(f"{cell.column.notebook}: {cell.status}.")
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
        sentences.append(f"{cell.column.notebook}{late}: {points}{said}.")
    return text_cell(" ".join(sentences))


def _roster(class_folder: ClassFolder, kind: str, columns: tuple[str, ...]) -> Roster:
    """The class list, if it is one of the platform's own; or else an empty one with `columns`."""
    roster = class_folder.roster
    if roster and roster.kind == kind and roster.header:
        return roster
    return Roster(kind, columns, (), (), newline="\r\n")


def _rows(
    table: Table, roster: Roster, cells_of: Callable[[Student], dict[str, str]]
) -> Iterator[tuple[Row | None, dict[str, str]]]:
    """The class list's rows in its order, then everybody who is not in it, each with its cells."""
    rows = {row.student.id: row for row in table.rows}
    for line in roster.rows:
        own = {name: _safe(name, _at(roster, line.cells, name)) for name in roster.header}
        yield rows.get(line.student), own
    listed = {line.student for line in roster.rows}
    yield from ((row, cells_of(row.student)) for id_, row in rows.items() if id_ not in listed)


def _assignment(notebook: str, roster: Roster) -> str:
    """The class list's own column for a notebook, or else the notebook's name."""
    wanted = _letters(notebook)
    others = [name for name in roster.header if name not in _IDENTIFYING]
    return next((name for name in others if wanted in _letters(name)), notebook)


def _letters(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "", text.lower())


def _is_points_possible(cells: Sequence[str]) -> bool:
    return bool(cells) and cells[0].strip() == _POINTS_POSSIBLE


def _at(roster: Roster, cells: Sequence[str], name: str) -> str:
    index = roster.header.index(name) if name in roster.header else len(cells)
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
        "Identifier": id_cell(student.id),
        "Full name": text_cell(student.name or student.id),
        "ID number": id_cell(student.id),
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
