"""The page of the class: an overview of everybody, and a table to search."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

from polars import col

from grader.classroom.gradebook.book import Book
from grader.classroom.gradebook.cells import UNIT
from grader.classroom.gradebook.codes import LETTERS, NOTHING, Status
from grader.classroom.gradebook.report.class_summary import (
    ClassSummary,
    distribution,
    figures,
    flag_kinds,
    round_width,
    said_once,
)
from grader.classroom.gradebook.report.mistakes import Gradient, Mistakes, in_words
from grader.classroom.gradebook.report.pages import page_name, render
from grader.classroom.gradebook.rubric import points_text
from grader.printable import listed, printable
from grader.reports import wording
from grader.verdict import TO_MEND, Outcome

Labels = Mapping[tuple[Gradient, str], int]

MOST_OFTEN = 10
"""The most gradients shown, of those that are most often wrong; the others are folded away."""

LONGEST = 120
"""The most characters of a name on a page that may have thousands of names."""


def class_page(book: Book, summary: ClassSummary, notices: Sequence[str]) -> str:
    """Write the page as one file, which needs no other file except the students' pages.

    Equal results give equal pages, because the page contains no seed, no times and no names of
    workers.
    """
    gradients = [(notebook, name) for notebook in book.columns for name in book.gradients(notebook)]
    numbers = {gradient: number for number, gradient in enumerate(gradients)}
    most_wrong = [gradient for gradient in summary.most_wrong() if gradient in numbers]
    words, labels = _labels(summary.mistakes)
    once, rows = class_data(book, summary, numbers, words, labels)
    return render(
        "class",
        script="class.js",
        title=book.rubric.course.title,
        notices=notices,
        book=book,
        summary=summary,
        figures=figures(book),
        graded_files=sum(book.sandboxes.values()),
        excused=len(book.ids(~col("graded") & (col("status") == Status.EXCUSED))),
        ungraded=len(book.ids(~col("graded") & (col("status") != Status.EXCUSED))),
        numbers=numbers,
        most_wrong=most_wrong,
        often_wrong=[gradient for gradient in most_wrong[:MOST_OFTEN] if summary.wrong(gradient)],
        wrong_gradients=[gradient for gradient in most_wrong if summary.mistakes.of(gradient)],
        wrong_words=listed((wording.word(o) for o in Outcome if o in TO_MEND), "or"),
        mistakes=summary.mistakes,
        in_words=in_words,
        labels=labels,
        flag_kinds=flag_kinds,
        said_once=said_once,
        distribution=distribution(book),
        marks=marks,
        outcomes=list(Outcome),
        statuses=list(Status),
        once=once,
        rows=rows,
    )


def _labels(mistakes: Mistakes) -> tuple[list[str], Labels]:
    """The words for mistakes in the page's table, and the number of each mistake's words.

    By this number, the table finds the students of a mistake. A wrong value without a diagnosis has
    a number of its own if several students share it. Any other mistake shares the number of its
    words.
    """
    places: dict[tuple[object, ...], int] = {}
    numbers: dict[tuple[Gradient, str], int] = {}
    for mistake in mistakes.most_common():
        own = (mistake.gradient, mistake.key)
        # a kind means the same in every gradient, a value in its own alone
        shared = mistake.diagnosed or mistake.students == 1
        label = (_shown(mistake.title.replace("`", "")), *(() if shared else own))
        numbers[own] = places.setdefault(label, len(places))
    return [str(word) for word, *_ in places], numbers


def class_data(
    book: Book,
    summary: ClassSummary,
    numbers: Mapping[Gradient, int],
    words: Sequence[str],
    labels: Labels,
) -> tuple[dict[str, object], Iterator[object]]:
    """The class's table as the page's script reads it: the common part, and the rows.

    A row is `[id, name, page, status, flags, points, points of each notebook, outcomes, kinds]`.
    `outcomes` has a letter for each gradient of the class, and `kinds` has the number of its
    mistake, if there is one. The script shows names as plain text only.
    """
    once: dict[str, object] = {
        "letters": {letter: str(outcome) for outcome, letter in LETTERS.items()},
        "words": {letter: wording.word(outcome) for outcome, letter in LETTERS.items()},
        "signs": {letter: wording.SIGNS[outcome] for outcome, letter in LETTERS.items()},
        "wrong": "".join(LETTERS[outcome] for outcome in Outcome if outcome in TO_MEND),
        "todo": LETTERS[Outcome.TODO],
        "statuses": [str(status) for status in Status],
        "kinds": words,
        "max": points_text(book.max_points),
        "adjusted": {
            number: points_text(Fraction(most, UNIT))
            for number, most in book.people.filter("adjusted")
            .select("student", "max_points")
            .iter_rows()
        },
        "notebooks": [
            [printable(notebook), [printable(name) for name in book.gradients(notebook)]]
            for notebook in book.columns
        ],
    }
    rows = (
        [
            _shown(row["student"].id),
            _shown(row["student"].name),
            page_name(row["student"].id).removesuffix(".html"),
            list(Status).index(row["status"]),
            len(row["flags"]),
            float(row["points"]) if row["graded"] else None,
            [float(cell["points"]) if cell["graded"] else None for cell in row["cells"]],
            "".join(
                cell["counts"]["outcomes"]
                if cell["counts"]
                else NOTHING * len(book.gradients(cell["notebook"]))
                for cell in row["cells"]
            ),
            {
                number: labels[gradient, found[gradient]]
                for gradient, number in numbers.items()
                if gradient in found
            },
        ]
        for row, found in zip(book.rows(), summary.mistakes.keys_of, strict=True)
    )
    return once, rows


def _shown(text: str) -> str:
    text = printable(text)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def marks(most: int) -> range:
    """At most seven round numbers, from 0 up to some points, to write below the histogram."""
    return range(0, most + 1, round_width(most, 6))
