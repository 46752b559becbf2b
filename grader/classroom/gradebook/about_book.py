"""Notices about a gradebook for the instructor."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from datetime import datetime
from fractions import Fraction

from polars import col

from grader.classroom.gradebook.book import Book
from grader.classroom.gradebook.cells import UNIT
from grader.classroom.gradebook.rubric import points_text
from grader.classroom.notices import Note, Notice
from grader.classroom.run.results import Results
from grader.printable import counted, listed, printable


def about_rows(book: Book) -> Iterator[Notice]:
    """Notices about files that do not count, and about adjusted points."""
    if several := len(book.ids(col("others") > 0)):
        whys = book.cells.filter(col("others") > 0)["why"].value_counts(sort=False)
        said = listed(
            f"{counted(n, 'time')} {why}" if len(whys) > 1 else why
            for why, n in sorted(whys.iter_rows(), key=lambda each: (-each[1], each[0]))
        )
        yield Note("several-files", students=counted(several, "student"), why=said)
    if adjusted := book.ids(col("adjusted")):
        yield Note("adjusted", who=listed(map(printable, adjusted), most=20))
    if untimed := book.ids(col("untimed")):
        yield Note("untimed", who=listed(map(printable, untimed), most=20))


def about_columns(book: Book) -> Iterator[Notice]:
    """Notices about notebooks that few students handed in, if it was not said which are due."""
    if book.rubric.notebooks:
        return
    for notebook, number in book.handed_in.items():
        due = ",".join(sorted({*book.columns, notebook}))
        said = {"number": f"{number:,}", "students": counted(book.present, "student")}
        if notebook not in book.columns:
            yield Notice("few-handed-in", notebook=notebook, due=due, **said)
    for notebook, most in book.columns.items():
        number = book.handed_in.get(notebook, 0)
        said = {"number": f"{number:,}", "students": counted(book.present, "student")}
        if 2 * number < book.present:
            yield Notice("few-count", notebook=notebook, points=points_text(most), **said)


def about_changes(book: Book, results: Results, before: datetime | None) -> Iterator[str]:
    """Say whose points have changed since the gradebook that was written `before`."""
    had: dict[str, Fraction] = defaultdict(Fraction)
    for student, _, _, points, *_ in results.book("grade"):
        had[student] += Fraction(points)
    now = {
        student.id: Fraction(points, UNIT)
        for student, points in zip(book.students, book.people["points"], strict=True)
    }
    changed = [id_ for id_ in now if had.get(id_, now[id_]) != now[id_]]
    if before and changed:
        today = before.date() == datetime.now().astimezone().date()
        said = (
            f"{printable(id_)} {points_text(had[id_])} → {points_text(now[id_])}" for id_ in changed
        )
        yield (
            f"{counted(len(changed), 'grade')} changed since "
            f"{before:{'%H:%M' if today else '%d %b %Y, %H:%M'}}: {listed(said, most=5)}."
        )
