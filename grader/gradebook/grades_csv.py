"""`grades.csv`: the gradebook for people, a row a student."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path

from grader.gradebook.csv_cells import id_cell, text_cell
from grader.gradebook.points import points_text
from grader.gradebook.table import Row, Status, Table
from grader.gradebook.whole_file import whole_file


def write_grades(table: Table, path: Path) -> None:
    """Write the gradebook; a notebook that is missing has 0 points and says so under `status`.

    UTF-8 with a byte-order mark and lines ending in CR LF: without the mark Excel reads a CSV file
    in the machine's own old encoding, and "Zoë" becomes "ZoÃ«".
    """
    header = ["id", "name", "email"]
    for column in table.columns:
        header += [column.notebook, f"{column.notebook} max"]
    header += ["total", "total max", "status", "late", "flags", "flag kinds", "superseded files"]
    with whole_file(path, "utf-8-sig") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        writer.writerows(_cells(row, table) for row in table.rows)


def _cells(row: Row, table: Table) -> list[str]:
    cells = [id_cell(row.student.id), text_cell(row.student.name), id_cell(row.student.email)]
    for cell in row.cells:
        cells += [points_text(cell.points), points_text(cell.max_points)]
    late = [
        column.notebook
        for column, cell in zip(table.columns, row.cells, strict=True)
        if cell.status is Status.LATE
    ]
    kinds = Counter(row.flags)
    return [
        *cells,
        points_text(row.points),
        points_text(row.max_points),
        status_text(row, table),
        text_cell(" ".join(late)),
        str(len(row.flags)),
        text_cell(" ".join(f"{kind}:{number}" for kind, number in sorted(kinds.items()))),
        str(sum(len(cell.superseded) for cell in row.cells)),
    ]


def status_text(row: Row, table: Table) -> str:
    """The status of all notebooks in a few words: "graded", or "late 01_...; missing 02_..."."""
    by_status: dict[Status, list[str]] = {}
    for column, cell in zip(table.columns, row.cells, strict=True):
        by_status.setdefault(cell.status, []).append(column.notebook)
    if len(by_status) == 1:
        said = [str(next(iter(by_status)))]
    else:
        said = [
            f"{status} {' '.join(by_status[status])}" for status in Status if status in by_status
        ]
    others = sum(1 for file in row.elsewhere if file.error)
    if others:
        said.append(f"{others} unreadable file{'s' if others > 1 else ''}")
    return "; ".join(said)
