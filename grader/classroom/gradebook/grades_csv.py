"""`grades.csv`, the gradebook for people. None of its cells is a formula."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import chain
from pathlib import Path

from grader.classroom.gradebook.book import Book, Record
from grader.classroom.gradebook.codes import Status
from grader.classroom.gradebook.platform_form import Scale
from grader.classroom.gradebook.rubric import points_text
from grader.classroom.spreadsheet import FOR_EXCEL, CsvForm, beginning_escaped, escaped
from grader.printable import counted, printable, visible
from grader.whole_file import whole_file


def text_cell(text: str) -> str:
    r"""A text by a student, on one line, without invisible characters and formulas.

    >>> text_cell("=HYPERLINK(\"http://evil\")"), text_cell("Ada;=1+1")
    ('\'=HYPERLINK("http://evil")', "Ada;'=1+1")
    """
    return escaped(printable(text))


def own_cell(text: str) -> str:
    """A text by the instructor, as it is written, but never a formula."""
    return beginning_escaped(printable(text))


def id_cell(text: str) -> str:
    """An id, an email or another cell by which a student is found again, with its spaces.

    The escapes of a class list are removed when it is read, so that its cells come back unchanged.
    """
    return escaped(visible(text))


def write_csv(path: Path, rows: Iterable[Sequence[str]], form: CsvForm = FOR_EXCEL) -> None:
    """Replace a CSV file. A character that its encoding lacks is spelled out.

    Args:
        path: the file.
        rows: the cells.
        form: its encoding, delimiter and line ends. A class list keeps its own.

    Raises:
        OSError: the file cannot be written; `path` is unchanged.
    """
    with whole_file(path) as file:
        text = io.TextIOWrapper(file, form.encoding, errors="backslashreplace", newline="")
        if form.sep:
            text.write(form.sep + form.newline)
        csv.writer(text, delimiter=form.delimiter, lineterminator=form.newline).writerows(rows)
        text.detach()  # it flushes, and leaves closing to `whole_file`


def write_grades(book: Book, path: Path) -> None:
    """Write the gradebook. A missing notebook has 0 points, and the `status` says so.

    If points are scaled to a number, the file has this grade as well.
    """
    scale = book.form.scale
    header = ["id", "name", "email"]
    for notebook in book.columns:
        header += [notebook, f"{notebook} max"]
    header += ["total", "total max"]
    header += ["grade", "grade max"] if isinstance(scale, Fraction) else []
    header += ["status", "late", "flags", "flag kinds"]
    header += ["superseded files", "attempts", "adjusted", "comment"]
    write_csv(path, chain([header], (_cells(row, scale) for row in book.rows())))


def _cells(row: Record, scale: Scale) -> list[str]:
    student, most = row["student"], row["max_points"]
    cells = [id_cell(student.id), text_cell(student.name), id_cell(student.email)]
    for each in (*row["cells"], row):
        cells += [points_text(each["points"]), points_text(each["max_points"])]
    if isinstance(scale, Fraction):
        cells.append(points_text(round(row["points"] / most * scale, 2)) if most else "")
        cells.append(points_text(scale))
    late = [cell["notebook"] for cell in row["cells"] if cell["status"] == Status.LATE]
    kinds = Counter[str](row["flags"])
    adjusted = [
        f"{c['notebook']}: {', '.join(c['adjusted'])}" for c in row["cells"] if c["adjusted"]
    ]
    attempts = [attempts_text(cell) for cell in row["cells"] if cell["superseded"]]
    return [
        *cells,
        status_text(row),
        text_cell(" ".join(late)),
        str(len(row["flags"])),
        text_cell(" ".join(f"{kind}:{number}" for kind, number in sorted(kinds.items()))),
        str(row["others"]),
        text_cell("; ".join(attempts)),
        text_cell("; ".join(adjusted)),
        own_cell(" ".join(comments(row))),
    ]


def attempts_text(cell: Record) -> str:
    """Say which of several files counts and which do not, each with its points."""
    files = [cell["counts"], *cell["superseded"]]
    taken, *others = (f"{file['path']} ({points_text(file['earns'])})" for file in files)
    return f"{cell['notebook']}: taken {taken}, {cell['why']}; not {', '.join(others)}"


def comments(row: Record) -> list[str]:
    """The instructor's comments on a student, each once."""
    on_cells = (comment for cell in row["cells"] for comment in cell["comments"])
    return list(dict.fromkeys((*row["comments"], *on_cells)))


def status_text(row: Record) -> str:
    """The status of all notebooks in a few words: "graded", or "late 01_...; missing 02_..."."""
    notebooks: dict[str, list[str]] = {}
    for cell in row["cells"]:
        notebooks.setdefault(cell["status"], []).append(cell["notebook"])
    said = [" ".join([status, *notebooks[status]]) for status in Status if status in notebooks]
    if len(notebooks) == 1:
        said = [*notebooks]
    if others := sum(bool(file["error"]) for file in row["elsewhere"]):
        said.append(counted(others, "unreadable file"))
    return "; ".join(said)
