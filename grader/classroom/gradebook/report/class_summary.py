"""A summary of a class, gathered student by student."""

from __future__ import annotations

import itertools
import statistics
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Set
from dataclasses import dataclass, field
from fractions import Fraction

import polars as pl
from polars import col

from grader.classroom.gradebook.book import Book, Record
from grader.classroom.gradebook.cells import UNIT
from grader.classroom.gradebook.codes import FOR_STUDENTS, Status
from grader.classroom.gradebook.lost_work import about_lost
from grader.classroom.gradebook.report.mistakes import Gradient, Mistakes, most_common
from grader.classroom.gradebook.report.student_page import Lines
from grader.classroom.gradebook.rubric import points_text
from grader.classroom.intake.class_folder import Student
from grader.classroom.notices import Notice
from grader.verdict import TO_MEND, Flag, Outcome, Place

Flagged = list[tuple[Student, list[tuple[str, Flag]]]]
"""Students with flags, each flag with the name of its file."""

Figures = list[tuple[str, str]]
"""The summary numbers, each after the words for what it counts."""

MOST_BINS = 20
"""The number of bins of the histogram, in addition to the one for full points."""


@dataclass(slots=True)
class ClassSummary:
    """The counts of a class, and its mistakes.

    `suspicious` are the flags that say more than the student is told, and `noted` are the others.
    `lost` is the work that earned nothing: the name of each file, with the notice about it.
    """

    outcomes: dict[Gradient, Counter[Outcome]] = field(default_factory=lambda: defaultdict(Counter))
    mistakes: Mistakes = field(default_factory=Mistakes)
    suspicious: Flagged = field(default_factory=list)
    noted: Flagged = field(default_factory=list)
    lost: list[tuple[Student, list[tuple[str, Notice]]]] = field(default_factory=list)

    def add(self, row: Record, lines: Lines) -> None:
        """Add a student. `lines` are those of the files that count or have flags."""
        student, counts = row["student"], [cell["counts"] for cell in row["cells"]]
        counting = [lines[file["id"]].report for file in counts if file]
        reports = [report for report in counting if report]
        for report in reports:
            for verdict in report.verdicts:
                # interned: each line of the journal brings its own copies of a few names
                gradient = sys.intern(report.notebook), sys.intern(verdict.name)
                self.outcomes[gradient][verdict.outcome] += 1
        self.mistakes.add(student, reports)
        if lost := [(f["name"], about_lost(f, lines.get(f["id"]))) for f in row["lost"]]:
            self.lost.append((student, lost))
        flagged_files = [file for file in row["files"] if file["flags"]]
        flags = [(file["name"], flag) for file in flagged_files for flag in lines[file["id"]].flags]
        for flagged, told in ((self.suspicious, False), (self.noted, True)):
            if own := [(name, f) for name, f in flags if (f.kind in FOR_STUDENTS) is told]:
                flagged.append((student, own))

    def most_wrong(self) -> list[Gradient]:
        """The gradients, ordered by how many students have them wrong, and then to do."""
        return sorted(
            self.outcomes,
            key=lambda gradient: (-self.wrong(gradient), -self.todo(gradient), gradient),
        )

    def wrong(self, gradient: Gradient) -> Fraction:
        """Among the students who handed in the notebook, the share with a wrong gradient."""
        return self._share(gradient, TO_MEND)

    def todo(self, gradient: Gradient) -> Fraction:
        """Among the students who handed in the notebook, the share without this gradient."""
        return self._share(gradient, {Outcome.TODO})

    def _share(self, gradient: Gradient, which: Set[Outcome]) -> Fraction:
        outcomes = self.outcomes[gradient]
        number = sum(count for outcome, count in outcomes.items() if outcome in which)
        return Fraction(number, outcomes.total())

    def counts(self, gradient: Gradient) -> dict[Outcome, int]:
        """How often each outcome occurs, in the order of `Outcome`."""
        outcomes = self.outcomes[gradient]
        return {outcome: outcomes[outcome] for outcome in Outcome if outcomes[outcome]}


def flag_kinds(flagged: Flagged) -> dict[str, int]:
    """The number of flags of each kind."""
    return most_common(Counter(flag.kind for _, flags in flagged for _, flag in flags))


def said_once(flags: list[tuple[str, Flag]]) -> dict[tuple[str, str, str], list[Place | None]]:
    """A student's flags by file, kind and message, with the places of each."""
    found: dict[tuple[str, str, str], list[Place | None]] = {}
    for name, flag in flags:
        found.setdefault((name, flag.kind, flag.message), []).append(flag.place)
    return found


def distribution(book: Book) -> tuple[int, list[int]]:
    """The width of a bin in points, and the number of graded students in each bin.

    The first bin begins at 0. There are no bins if no student is graded, or if nothing earns a
    point.
    """
    graded = book.people.filter("graded")
    top = Fraction(max(graded["max_points"], default=0), UNIT)
    width = round_width(top, MOST_BINS)
    counts = Counter(int(min(Fraction(points, UNIT), top) // width) for points in graded["points"])
    return width, [counts[n] for n in range(int(top // width) + 1)] if top > 0 else []


def round_width(most: Fraction | int, parts: int) -> int:
    """The least of 1, 2, 5, 10, 20, ... that divides some points into at most so many parts."""
    widths: Iterator[int] = (digit * 10**p for p in itertools.count() for digit in (1, 2, 5))
    return next(width for width in widths if width * (parts + 1) > most)


def figures(book: Book) -> Figures:
    """The numbers that the class's page and the terminal show first."""
    people, graded = book.people, col("graded")
    status, nothing = col("status"), col("files").list.len() == 0

    def students(which: pl.Expr) -> int:
        return len(people.filter(which))

    points = [Fraction(each, UNIT) for each in people.filter(graded)["points"]]
    awarded, excused = students(status == Status.AWARDED), students(status == Status.EXCUSED)
    others = students((status == Status.MISSING) & ~nothing)
    most = points_text(book.max_points)
    averages = [("median", statistics.median), ("mean", statistics.mean)] if points else []
    shown = [
        ("students", len(people)),
        ("graded", len(points) - awarded),
        *([("awarded", awarded)] if awarded else []),
        *((f"{name} of {most} points", _one_place(average(points))) for name, average in averages),
        ("with all points", students(graded & (col("points") == col("max_points")))),
        *(
            [("not all notebooks", students(graded & col("partly")))]
            if len(book.columns) > 1
            else []
        ),
        ("late", students(col("late"))),
        *([("excused", excused)] if excused else []),
        ("handed in nothing", students((status == Status.MISSING) & nothing)),
        *([("handed in nothing that is due", others)] if others else []),
        ("unreadable files", people["unreadable"].sum()),
        ("to be looked at", students(col("flagged"))),
    ]
    return [(what, said if isinstance(said, str) else f"{said:,}") for what, said in shown]


def _one_place(number: Fraction | float) -> str:
    return f"{float(number):.1f}".removesuffix(".0")
