"""`canvas.csv` and `moodle.csv`: the grades as those platforms import them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path

from grader.classroom.gradebook.grades_csv import comments, id_cell, own_cell, text_cell, write_csv
from grader.classroom.gradebook.platform_form import (
    AS_THEY_ARE,
    CANVAS_COLUMNS,
    CANVAS_OPTIONAL,
    MAXIMUM,
    MOODLE_COLUMNS,
    POINTS_POSSIBLE,
    Assignment,
    PlatformForm,
    assignments,
    factor,
    graded_text,
    is_canvas_export,
    is_moodle_worksheet,
    is_points_possible,
    letters,
    maximum_in,
    target,
)
from grader.classroom.gradebook.rubric import points_text
from grader.classroom.gradebook.table import OUTCOMES, Cell, Row, Status, Table
from grader.classroom.intake.class_folder import ClassFolder, Roster, Student
from grader.classroom.intake.platform_layouts import CANVAS
from grader.reports import wording
from grader.verdict import EARNS_POINTS

_GRADE, _FEEDBACK = "Grade", "Feedback comments"

EXCUSED = "EX"
"""Canvas's own word in a cell: the assignment does not count for the student."""

_NAMES = frozenset(
    {"student", "fullname", "firstname", "lastname", "surname", "section", "department"}
)
"""Columns of people's own words, by which no platform finds a student."""

_MOST_NAMED = 8

# A notebook that did not come, or cannot be read, has an empty cell: an import then leaves what
# the platform has, and whether nothing is worth 0 is the instructor's to say. There is no
# byte-order mark but where the platform's own file had one: these files are read by programs.


def write_canvas(
    table: Table, class_folder: ClassFolder, path: Path, form: PlatformForm = AS_THEY_ARE
) -> None:
    """Write the grades for Canvas's "Import Grades", if the class list is Canvas's own gradebook.

    From that export come its identifying columns, its rows in their order, and its own columns of
    assignments whose names hold a notebook's, so that grades arrive where they belong
    ("01_atomic_backprop (4711)"), or the columns that `form` names. If it is another list, the
    file of an earlier run is deleted.
    """
    roster = class_folder.roster
    if not is_canvas_export(roster):
        path.unlink(missing_ok=True)
        return
    known = (*CANVAS_COLUMNS, *CANVAS_OPTIONAL)
    header = [name for name in roster.header if name in known]
    columns = assignments(table, roster, form)
    names = [each.name for each in columns]
    possible = [graded_text(each.most, each.factor) for each in columns]

    lines = [[*header, *names]]
    above = list(roster.above)
    if not any(is_points_possible(cells) for cells in above):
        above.append((f"    {POINTS_POSSIBLE}",))
    for title in above:
        own = [roster.at(title, name) for name in (*header, *names)]
        own[0] = own[0] or title[0]  # the row that was not in the class list
        if is_points_possible(title):
            there = zip(own[len(header) :], possible, strict=True)
            own[len(header) :] = [old if old.strip() else new for old, new in there]
        lines.append(own)
    # The files of a download have Canvas's own numbers of students in their names.
    whose = "ID" if class_folder.convention == CANVAS else "SIS Login ID"

    def cells_of(student: Student) -> dict[str, str]:
        name = text_cell(student.name or student.id)
        return {"Student": name, "LastName": name, whose: id_cell(student.id)}

    for row, cells in _rows(table, roster, cells_of):
        grades = [_canvas_grade(row, each) if row else "" for each in columns]
        lines.append([*(cells.get(name, "") for name in header), *grades])
    write_csv(path, lines, roster.form)


def write_moodle(
    table: Table, class_folder: ClassFolder, path: Path, form: PlatformForm = AS_THEY_ARE
) -> None:
    """Write the grades for Moodle, if the class list is its offline grading worksheet.

    All columns and rows of the worksheet come back, with `Grade` and `Feedback comments` filled
    in. Points are scaled to its `Maximum grade`, which Moodle's import insists on, unless `form`
    says otherwise. If it is another list, the file of an earlier run is deleted.
    """
    roster = class_folder.roster
    if not is_moodle_worksheet(roster):
        path.unlink(missing_ok=True)
        return
    header = [*roster.header, *(n for n in (_GRADE, _FEEDBACK) if n not in roster.header)]
    lines = [header, *map(list, roster.above)]

    def cells_of(student: Student) -> dict[str, str]:
        id_, name = id_cell(student.id), text_cell(student.name or student.id)
        return dict(zip(MOODLE_COLUMNS, (id_, name, id_, id_cell(student.email)), strict=True))

    for row, cells in _rows(table, roster, cells_of):
        if row:
            maximum = maximum_in(cells.get(roster.column(MAXIMUM), ""))
            cells[_GRADE] = _grade(row, target(form, maximum, table.max_points, table))
            cells[_FEEDBACK] = feedback(row)
        lines.append([cells.get(name, "") for name in header])
    write_csv(path, lines, roster.form)


def feedback(row: Row) -> str:
    """A comment for the student: points and what to mend, a sentence a notebook."""
    sentences = []
    for cell in row.cells:
        points = f"{points_text(cell.points)} of {points_text(cell.max_points)} points"
        changed = f" (set by the instructor: {', '.join(cell.adjusted)})" if cell.adjusted else ""
        if cell.counts is None or cell.status is Status.EXCUSED:
            what = points if cell.graded else str(cell.status)
            sentences.append(f"{cell.column.notebook}: {what}{changed}.")
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
        sentences.append(f"{cell.column.notebook}{late}: {points}{changed}{said}.")
    sentences += [f"{file.name}: {Status.UNREADABLE}." for file in row.elsewhere if file.error]
    return own_cell(" ".join([text_cell(" ".join(sentences)), *comments(row)]))


def _rows(
    table: Table, roster: Roster, cells_of: Callable[[Student], dict[str, str]]
) -> Iterator[tuple[Row | None, dict[str, str]]]:
    """The class list's rows in its order, then everybody who is not in it, each with its cells."""
    rows = {row.student.id: row for row in table.rows}
    for line in roster.rows:
        own = {}
        for name in roster.header:
            safe = text_cell if letters(name) in _NAMES else id_cell
            own[name] = safe(roster.at(line.cells, name))
        yield rows.get(line.student), own
    listed = {line.student for line in roster.rows}
    yield from ((row, cells_of(row.student)) for id_, row in rows.items() if id_ not in listed)


def _grade(graded: Cell | Row, target: Fraction | None, excused: str = "") -> str:
    """Points of a notebook, or of all; of a fixed maximum, the share of what was to be done."""
    if graded.status is Status.EXCUSED:
        return excused
    return graded_text(graded.points, factor(target, graded.max_points)) if graded.graded else ""


def _canvas_grade(row: Row, assignment: Assignment) -> str:
    cells = {cell.column.notebook: cell for cell in row.cells}
    graded = cells[assignment.column.notebook] if assignment.column else row
    return _grade(graded, assignment.target, EXCUSED)
