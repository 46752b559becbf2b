"""The class's page: everybody at a glance, and a table to search."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

from grader.classroom.gradebook.class_summary import (
    ClassSummary,
    Gradient,
    distribution,
    figures,
    flag_kinds,
)
from grader.classroom.gradebook.pages import render
from grader.classroom.gradebook.rubric import points_text
from grader.classroom.gradebook.table import LETTERS, Cell, Status, Table
from grader.printable import printable
from grader.reports import wording
from grader.verdict import EARNS_POINTS, Outcome

NOTHING = "-"
"""The outcome of a gradient where no file of its notebook counts."""

LONGEST = 120
"""Characters of a name that a page with thousands of them can afford."""


def class_page(
    table: Table,
    summary: ClassSummary,
    title: str,
    notices: Sequence[str] = (),
    alike: int | None = None,
) -> str:
    """The page: one file that needs no other but the students' pages it links to.

    `alike` is the number of pairs who wrote alike, None where there is no such list to link to.

    It is the same for the same results; no seed, no times, no worker's name stands on it.
    """
    gradients = [
        (column.notebook, name) for column in table.columns for _, name in column.gradients
    ]
    numbers = {gradient: number for number, gradient in enumerate(gradients)}
    once, rows = class_data(table, summary, numbers)
    return render(
        "class",
        script="class.js",
        title=title,
        notices=notices,
        alike=alike,
        table=table,
        summary=summary,
        figures=figures(table, summary),
        numbers=numbers,
        missed=[gradient for gradient in summary.most_missed() if gradient in numbers],
        flag_kinds=flag_kinds,
        distribution=distribution(table),
        marks=marks,
        outcomes=list(Outcome),
        statuses=list(Status),
        once=once,
        rows=rows,
    )


def class_data(
    table: Table, summary: ClassSummary, numbers: Mapping[Gradient, int]
) -> tuple[dict[str, object], Iterator[object]]:
    """The class's table as the page's script reads it: what is said once, and the rows.

    A row is `[id, name, page, status, flags, points, points of each notebook, outcomes, kinds]`:
    `outcomes` has a letter for each gradient of the class, `kinds` the number of the likeliest
    mistake where there is one. Names are printable text, and become nothing else in the page.
    """
    kinds = sorted(summary.kinds)
    once: dict[str, object] = {
        "letters": {letter: str(outcome) for outcome, letter in LETTERS.items()},
        "words": {letter: wording.word(outcome) for outcome, letter in LETTERS.items()},
        "signs": {letter: wording.SIGNS[outcome] for outcome, letter in LETTERS.items()},
        "earns": "".join(LETTERS[outcome] for outcome in Outcome if outcome in EARNS_POINTS),
        "statuses": [str(status) for status in Status],
        "kinds": [printable(kind) for kind in kinds],
        "max": points_text(table.max_points),
        "adjusted": {
            number: points_text(row.max_points)
            for number, row in enumerate(table.rows)
            if row.adjusted
        },
        "notebooks": [
            [printable(column.notebook), [printable(name) for _, name in column.gradients]]
            for column in table.columns
        ],
    }
    rows = (
        [
            _shown(row.student.id),
            _shown(row.student.name),
            row.page.removesuffix(".html"),
            list(Status).index(row.status),
            len(row.flags),
            float(row.points) if row.graded else None,
            [float(cell.points) if cell.graded else None for cell in row.cells],
            "".join(map(_letters, row.cells)),
            {
                number: kinds.index(found[gradient])
                for gradient, number in numbers.items()
                if gradient in found
            },
        ]
        for row, found in zip(table.rows, summary.kinds_of, strict=True)
    )
    return once, rows


def _shown(text: str) -> str:
    text = printable(text)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def _letters(cell: Cell) -> str:
    gradients = [gradient for _, gradient in cell.column.gradients]
    if cell.counts is None:
        return NOTHING * len(gradients)
    known = dict(zip(cell.counts.gradients, cell.counts.outcomes, strict=True))
    return "".join(known.get(gradient, NOTHING) for gradient in gradients)


def marks(most: Fraction) -> range:
    """Round numbers from 0 up to the most points, six or so, to stand below the histogram."""
    steps = (digit * 10**power for power in range(6) for digit in (1, 2, 5))
    return range(0, int(most) + 1, next(step for step in steps if step * 7 > most))
