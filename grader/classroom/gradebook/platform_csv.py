"""`canvas.csv` and `moodle.csv`: the grades in the form that these platforms import."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from grader.classroom.gradebook.book import Book, Record
from grader.classroom.gradebook.codes import NOTHING, OUTCOMES, Status
from grader.classroom.gradebook.grades_csv import comments, id_cell, own_cell, text_cell, write_csv
from grader.classroom.gradebook.platform_form import (
    CANVAS_COLUMNS,
    CANVAS_OPTIONAL,
    MAXIMUM,
    MOODLE_COLUMNS,
    POINTS_POSSIBLE,
    column_for,
    is_canvas_export,
    is_moodle_worksheet,
    is_points_possible,
    letters,
    maximum_in,
    own_column,
    refuse_shared,
)
from grader.classroom.gradebook.rubric import points_text
from grader.classroom.intake.class_folder import Roster, Student
from grader.classroom.intake.platform_layouts import CANVAS, MOODLE, prefix_in
from grader.classroom.notices import Note, Notice
from grader.printable import listed, printable
from grader.reports import wording
from grader.verdict import EARNS_POINTS

_GRADE, _FEEDBACK = "Grade", "Feedback comments"

EXCUSED = "EX"
"""Canvas's own word for a cell whose assignment does not count for the student."""

_NAMES = frozenset(
    {"student", "fullname", "firstname", "lastname", "surname", "section", "department"}
)
"""Columns with people's own words, by which a platform does not find a student."""

_MOST_NAMED = 8

# A notebook that is missing or unreadable has an empty cell. An import then leaves what the
# platform has, and the instructor decides whether nothing is worth 0. There is no byte-order mark
# unless the platform's own file had one, because programs read these files.


@dataclass(frozen=True, slots=True)
class Assignment:
    """A platform's column, for the points of one notebook, or of all if `notebook` is "".

    `most` are the points that it takes, and `maximum` is the platform's own maximum, or None if it
    is unknown. The full points become `target`, or stay as they are if it is None.
    """

    name: str
    notebook: str
    most: Fraction
    maximum: Fraction | None
    target: Fraction | None

    def grade(self, row: Record, excused: str = "") -> str:
        """A student's grade: the share of the points that count, of a maximum if there is one."""
        cells = {cell["notebook"]: cell for cell in row["cells"]}
        graded = cells[self.notebook] if self.notebook else row
        if graded["status"] == Status.EXCUSED:
            return excused
        return self.scaled(graded["points"], graded["max_points"]) if graded["graded"] else ""

    def scaled(self, points: Fraction, most: Fraction) -> str:
        """The grade for some points out of `most`."""
        if self.target is None or not most or self.target == most:
            return points_text(points)
        return points_text(round(points * self.target / most, 2))


def assignment(book: Book, name: str, notebook: str, maximum: Fraction | None) -> Assignment:
    """The column with this name. Without a maximum, its points are scaled to themselves.

    So a student who is excused from a part gets the share of the rest.
    """
    most = book.columns[notebook] if notebook else book.max_points
    if isinstance(book.form.scale, Fraction):
        # That is what all notebooks together become.
        target = book.form.scale * most / book.max_points if book.max_points else None
    else:
        target = None if book.form.scale == "none" else maximum or most
    return Assignment(name, notebook, most, maximum, target)


def canvas_assignments(book: Book, roster: Roster) -> list[Assignment]:
    """The columns of Canvas's file.

    Raises:
        UnknownColumn: a named column is not in the list, or would take the points of two notebooks.
    """
    named = book.form.canvas_columns
    wanted = {notebook: own_column(name, roster) for notebook, name in named.items()}
    if "" not in named:
        wanted = {name: wanted.get(name) or column_for(name, roster) for name in book.columns}
    order = ["", *book.columns]
    wanted = {name: wanted[name] for name in order if name in wanted}
    refuse_shared(wanted)
    made = []
    for notebook, name in wanted.items():
        possible = [roster.at(row, name) for row in roster.above if is_points_possible(row)]
        made.append(assignment(book, name, notebook, maximum_in(possible[0]) if possible else None))
    return made


def write_canvas(book: Book, path: Path) -> None:
    """Write the grades for Canvas's "Import Grades", if the class list is Canvas's own gradebook.

    The file has the identifying columns of that export and its rows in their order. Grades go into
    the columns that the instructor named, or into Canvas's columns whose names contain a
    notebook's, such as "01_atomic_backprop (4711)". If the class list is another list, the file of
    an earlier run is deleted.
    """
    roster = book.class_folder.roster
    if not is_canvas_export(roster):
        path.unlink(missing_ok=True)
        return
    known = (*CANVAS_COLUMNS, *CANVAS_OPTIONAL)
    header = [name for name in roster.header if name in known]
    columns = canvas_assignments(book, roster)
    names = [each.name for each in columns]
    possible = [each.scaled(each.most, each.most) for each in columns]

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
    whose = "ID" if book.class_folder.convention == CANVAS else "SIS Login ID"

    def cells_of(student: Student) -> dict[str, str]:
        name = text_cell(student.name or student.id)
        return {"Student": name, "LastName": name, whose: id_cell(student.id)}

    def fill(row: Record, _: Mapping[str, str]) -> dict[str, str]:
        return {each.name: each.grade(row, EXCUSED) for each in columns}

    rows = _rows(book, roster, header, cells_of, fill)
    lines += [[row.get(name, "") for name in lines[0]] for row in rows]
    write_csv(path, lines, roster.form)


def write_moodle(book: Book, path: Path) -> None:
    """Write the grades for Moodle, if the class list is its offline grading worksheet.

    The file has all columns and rows of the worksheet, with `Grade` and `Feedback comments` filled
    in. Points are scaled to its `Maximum grade`, which Moodle's import insists on, unless the
    instructor says otherwise. If the class list is another list, the file of an earlier run is
    deleted.
    """
    roster = book.class_folder.roster
    if not is_moodle_worksheet(roster):
        path.unlink(missing_ok=True)
        return
    header = [*roster.header, *(n for n in (_GRADE, _FEEDBACK) if n not in roster.header)]
    lines = [header, *map(list, roster.above)]

    def cells_of(student: Student) -> dict[str, str]:
        id_, name = id_cell(student.id), text_cell(student.name or student.id)
        return dict(zip(MOODLE_COLUMNS, (id_, name, id_, id_cell(student.email)), strict=True))

    def fill(row: Record, cells: Mapping[str, str]) -> dict[str, str]:
        maximum = maximum_in(cells.get(roster.column(MAXIMUM), ""))
        grade = assignment(book, _GRADE, "", maximum).grade(row)
        return {_GRADE: grade, _FEEDBACK: feedback(row, book)}

    rows = _rows(book, roster, header, cells_of, fill)
    write_csv(
        path, [*lines, *([row.get(name, "") for name in header] for row in rows)], roster.form
    )


def _rows(
    book: Book,
    roster: Roster,
    kept: Sequence[str],
    cells_of: Callable[[Student], dict[str, str]],
    fill: Callable[[Record, Mapping[str, str]], dict[str, str]],
) -> list[dict[str, str]]:
    """The class list's rows in its order, then everybody who is not in it, with their grades.

    Of the list's own cells, only those in the `kept` columns stay.
    """
    mine: dict[str, list[int]] = {}
    lines: list[dict[str, str]] = []
    for number, line in enumerate(roster.rows):
        mine.setdefault(line.student, []).append(number)
        own = {}
        for name in kept:
            safe = text_cell if letters(name) in _NAMES else id_cell
            own[name] = safe(roster.at(line.cells, name))
        lines.append(own)
    for row in book.rows():
        student = row["student"]
        if student.id not in mine:
            mine[student.id] = [len(lines)]
            lines.append(cells_of(student))
        for number in mine[student.id]:
            lines[number] |= fill(row, lines[number])
    return lines


def feedback(row: Record, book: Book) -> str:
    """A comment for the student, with the points and what to mend, a sentence for each notebook."""
    sentences = []
    for cell in row["cells"]:
        points = f"{points_text(cell['points'])} of {points_text(cell['max_points'])} points"
        adjusted = ", ".join(cell["adjusted"])
        changed = f" (set by the instructor: {adjusted})" if adjusted else ""
        file = cell["counts"]
        if file is None or cell["status"] == Status.EXCUSED:
            what = points if cell["graded"] else cell["status"]
            sentences.append(f"{cell['notebook']}: {what}{changed}.")
            continue
        verdicts = zip(book.gradients(cell["notebook"]), file["outcomes"], strict=True)
        outcomes = {name: OUTCOMES[letter] for name, letter in verdicts if letter != NOTHING}
        mend = [
            f"{name} ({wording.word(outcome)})"
            for name, outcome in outcomes.items()
            if outcome not in EARNS_POINTS
        ]
        further = [f"{len(mend) - _MOST_NAMED} more"] if len(mend) > _MOST_NAMED else []
        said = f"; to mend: {', '.join([*mend[:_MOST_NAMED], *further])}" if mend else ""
        late = " (late)" if file["late"] else ""
        sentences.append(f"{cell['notebook']}{late}: {points}{changed}{said}.")
    unreadable = (file["name"] for file in row["elsewhere"] if file["error"])
    sentences += [f"{name}: {Status.UNREADABLE}." for name in unreadable]
    return own_cell(" ".join([text_cell(" ".join(sentences)), *comments(row)]))


def about_platform(book: Book) -> Iterator[str]:
    """Say which notebooks have no column in Canvas's export, and which maximum differs.

    A platform's maximum may differ from the points that can be earned, or may be unknown.
    """
    roster = book.class_folder.roster
    if roster is None:
        return
    columns = canvas_assignments(book, roster) if is_canvas_export(roster) else []
    if new := [each.name for each in columns if each.name not in roster.header]:
        yield Notice("no-column", columns=listed(new))
    yield from _added_together(book)
    if not book.max_points:
        return
    if book.class_folder.convention == MOODLE and not is_moodle_worksheet(roster):
        yield Notice("no-worksheet", column=repr(MOODLE_COLUMNS[0]))
    for each in columns:
        yield from _differs(each, f"Canvas's {each.name}", book)
    if is_moodle_worksheet(roster) and (name := roster.column(MAXIMUM)):
        written = {maximum_in(roster.at(row.cells, name)) for row in roster.rows}
        for maximum in sorted(each for each in written if each is not None):
            yield from _differs(assignment(book, _GRADE, "", maximum), "Moodle's", book)


def _added_together(book: Book) -> Iterator[Notice]:
    """The notice if Moodle's only column gets the points of several assignments."""
    folder = book.class_folder
    if folder.convention != MOODLE or not is_moodle_worksheet(folder.roster):
        return
    paths = (tuple(item.path.split("/")) for item in folder.handed_in)
    downloads = {parts[: found[0]] for parts in paths if (found := prefix_in(parts))}
    if len(downloads) > 1 and len(book.columns) > 1:
        yield Notice("added", downloads=len(downloads), notebooks=listed(book.columns))


def _differs(each: Assignment, whose: str, book: Book) -> Iterator[str]:
    """The notice about a platform's maximum, unless it equals the points that can be earned."""
    becomes = each.most if each.target is None else each.target
    if each.maximum is None or each.maximum == each.most == becomes:
        return
    notebooks = [each.notebook] if each.notebook else [*book.columns]
    chosen = book.rubric.notebooks or len(book.columns) == 1
    which = "" if chosen else " --due-notebooks says which notebooks count."
    differ = "" if becomes == each.maximum else " The two differ."
    to = "not scaled" if becomes == each.most else f"scaled to {points_text(round(becomes, 2))}"
    yield (Notice if differ or which else Note)(
        "maximum",
        whose=printable(whose),
        maximum=points_text(each.maximum),
        notebooks=f"{listed(notebooks)} {'are' if len(notebooks) > 1 else 'is'}",
        most=points_text(each.most),
        scaled=to,
        differ=differ,
        which=which,
    )
