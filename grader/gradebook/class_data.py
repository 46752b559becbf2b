"""The class's table as the page's script reads it: short strings, a row a student."""

from __future__ import annotations

from collections.abc import Iterator

from grader.gradebook.class_summary import ClassSummary
from grader.gradebook.points import points_text
from grader.gradebook.results_file import LETTERS
from grader.gradebook.table import Cell, Column, Row, Status, Table
from grader.printable import printable
from grader.reports import wording
from grader.verdict import EARNS_POINTS, Outcome

NOTHING = "-"
"""Where no file of a notebook counts."""

LONGEST = 120
"""Characters of a name that a page with thousands of them can afford."""


def class_data(table: Table, summary: ClassSummary) -> tuple[dict[str, object], Iterator[object]]:
    """What is said once, and the rows: all of it JSON as it stands, the rows one by one.

    A row is `[id, name, page, status, flags, points, points of each notebook, outcomes, kinds]`:
    `outcomes` has a letter for each gradient of the class, `kinds` the number of the likeliest
    mistake where there is one. Names are printable text, and become nothing else in the page.
    """
    kinds = sorted(summary.kinds)
    number = {kind: index for index, kind in enumerate(kinds)}
    once: dict[str, object] = {
        "letters": {letter: str(outcome) for outcome, letter in LETTERS.items()},
        "words": {letter: wording.word(outcome) for outcome, letter in LETTERS.items()},
        "signs": {letter: wording.SIGNS[outcome] for outcome, letter in LETTERS.items()},
        "earns": "".join(LETTERS[outcome] for outcome in Outcome if outcome in EARNS_POINTS),
        "statuses": [str(status) for status in Status],
        "kinds": [printable(kind) for kind in kinds],
        "max": points_text(table.rows[0].max_points) if table.rows else "0",
        "notebooks": [
            [printable(column.notebook), [printable(name) for _, name in column.gradients]]
            for column in table.columns
        ],
    }
    rows = (_row(row, table, number, summary, index) for index, row in enumerate(table.rows))
    return once, rows


def _row(
    row: Row, table: Table, number: dict[str, int], summary: ClassSummary, index: int
) -> list[object]:
    cells = list(zip(table.columns, row.cells, strict=True))
    found = summary.kinds_of[index]
    kinds: dict[int, int] = {}
    place = 0
    for column, _ in cells:
        for _, gradient in column.gradients:
            if kind := found.get((column.notebook, gradient)):
                kinds[place] = number[kind]
            place += 1
    return [
        _shown(row.student.id),
        _shown(row.student.name),
        row.page.removesuffix(".html"),
        list(Status).index(row.status),
        len(row.flags),
        float(row.points) if row.graded else None,
        [float(cell.points) if cell.counts else None for cell in row.cells],
        "".join(_letters(column, cell) for column, cell in cells),
        kinds,
    ]


def _shown(text: str) -> str:
    text = printable(text)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def _letters(column: Column, cell: Cell) -> str:
    if cell.counts is None:
        return NOTHING * len(column.gradients)
    known = dict(zip(cell.counts.gradients, cell.counts.outcomes, strict=True))
    return "".join(known.get(gradient, NOTHING) for _, gradient in column.gradients)
