"""`grades.csv`, the gradebook for people, in which no cell is a formula."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import chain
from pathlib import Path

from grader.classroom.gradebook.platform_form import Scale
from grader.classroom.gradebook.rubric import points_text
from grader.classroom.gradebook.table import Cell, Row, Status, Table
from grader.classroom.spreadsheet import FOR_EXCEL, CsvForm, beginning_escaped, escaped
from grader.printable import counted, printable, visible
from grader.whole_file import whole_file


def text_cell(text: str) -> str:
    r"""A text from a student's hand: one line, nothing invisible, no formula.

    >>> text_cell("=HYPERLINK(\"http://evil\")"), text_cell("Ada;=1+1")
    ('\'=HYPERLINK("http://evil")', "Ada;'=1+1")
    """
    return escaped(printable(text))


def own_cell(text: str) -> str:
    """A text from the instructor's hand: it is no formula, and as it is written all the same."""
    return beginning_escaped(printable(text))


def id_cell(text: str) -> str:
    """An id, an email or another cell by which a student is found again: its spaces are kept.

    A class list is read without what escapes its cells, so that it comes back as it went in.
    """
    return escaped(visible(text))


def write_csv(path: Path, rows: Iterable[Sequence[str]], form: CsvForm = FOR_EXCEL) -> None:
    """Replace a CSV file; a character that its encoding lacks is spelled out.

    Args:
        path: the file.
        rows: the cells.
        form: its encoding, delimiter and ends of lines; a class list has those of its own.

    Raises:
        OSError: it cannot be written; `path` is as it was.
    """
    with whole_file(path) as file:
        text = io.TextIOWrapper(file, form.encoding, errors="backslashreplace", newline="")
        if form.sep:
            text.write(form.sep + form.newline)
        csv.writer(text, delimiter=form.delimiter, lineterminator=form.newline).writerows(rows)
        text.detach()  # it flushes, and leaves closing to `whole_file`


def write_grades(table: Table, path: Path, scale: Scale = "platform") -> None:
    """Write the gradebook; a notebook that is missing has 0 points and says so under `status`.

    Where points are scaled to a number, it has the grade as well.
    """
    header = ["id", "name", "email"]
    for column in table.columns:
        header += [column.notebook, f"{column.notebook} max"]
    header += ["total", "total max"]
    header += ["grade", "grade max"] if isinstance(scale, Fraction) else []
    header += ["status", "late", "flags", "flag kinds"]
    header += ["superseded files", "attempts", "adjusted", "comment"]
    write_csv(path, chain([header], (_cells(row, scale) for row in table.rows)))


def _cells(row: Row, scale: Scale) -> list[str]:
    cells = [id_cell(row.student.id), text_cell(row.student.name), id_cell(row.student.email)]
    for cell in row.cells:
        cells += [points_text(cell.points), points_text(cell.max_points)]
    late = [cell.column.notebook for cell in row.cells if cell.status is Status.LATE]
    kinds = Counter(row.flags)
    adjusted = [f"{c.column.notebook}: {', '.join(c.adjusted)}" for c in row.cells if c.adjusted]
    grade = []
    if isinstance(scale, Fraction):
        most = row.max_points
        grade = [points_text(round(row.points / most * scale, 2)) if most else ""]
        grade.append(points_text(scale))
    return [
        *cells,
        points_text(row.points),
        points_text(row.max_points),
        *grade,
        status_text(row),
        text_cell(" ".join(late)),
        str(len(row.flags)),
        text_cell(" ".join(f"{kind}:{number}" for kind, number in sorted(kinds.items()))),
        str(sum(len(cell.superseded) for cell in row.cells)),
        text_cell("; ".join(attempts_text(cell) for cell in row.cells if cell.superseded)),
        text_cell("; ".join(adjusted)),
        own_cell(" ".join(comments(row))),
    ]


def attempts_text(cell: Cell) -> str:
    """Which of several files was taken and which were not, each with what it earns."""
    files = [*([cell.counts] if cell.counts else []), *cell.superseded]
    taken, *others = (f"{file.path} ({points_text(cell.earns[file.id])})" for file in files)
    return f"{cell.column.notebook}: taken {taken}, {cell.why}; not {', '.join(others)}"


def comments(row: Row) -> list[str]:
    """The instructor's comments on a student, each once."""
    return list(dict.fromkeys((*row.comments, *(c for cell in row.cells for c in cell.comments))))


def status_text(row: Row) -> str:
    """The status of all notebooks in a few words: "graded", or "late 01_...; missing 02_..."."""
    by_status: dict[Status, list[str]] = {}
    for cell in row.cells:
        by_status.setdefault(cell.status, []).append(cell.column.notebook)
    if len(by_status) == 1:
        said = [str(next(iter(by_status)))]
    else:
        said = [
            f"{status} {' '.join(by_status[status])}" for status in Status if status in by_status
        ]
    if others := sum(bool(file.error) for file in row.elsewhere):
        said.append(counted(others, "unreadable file"))
    return "; ".join(said)
