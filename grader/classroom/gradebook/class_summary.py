"""What can be said of a class as a whole, gathered student by student."""

from __future__ import annotations

import statistics
import sys
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TypeVar

from grader.classroom.gradebook.student_page import FOR_STUDENTS, Lines
from grader.classroom.gradebook.table import Row, Status, Table
from grader.verdict import EARNS_POINTS, Flag, Outcome, Report

Gradient = tuple[str, str]
"""A notebook with the name of one of its gradients."""

Flagged = list[tuple[Row, list[tuple[str, Flag]]]]
"""Students with flags, each with the name of the file it stands in."""

C = TypeVar("C", str, Gradient)

MOST_GRADIENTS = 3
"""Gradients that are named beside a mistake."""

MOST_BINS = 20

MOST_MESSAGES = 2_000
"""Different messages of one kind that are counted; students are seen in the table's order, so
that what is left out is always the same."""


@dataclass(slots=True)
class KindCount:
    """How often a mistake was made: by how many students, in which gradients, said how."""

    students: int = 0
    gradients: Counter[Gradient] = field(default_factory=Counter)
    messages: Counter[str] = field(default_factory=Counter)

    @property
    def message(self) -> str:
        """What was said most often."""
        return next(iter(most_common(self.messages)), "")

    @property
    def names(self) -> list[str]:
        """The names of the gradients in which it was made most often."""
        names = dict.fromkeys(name for _, name in most_common(self.gradients))
        return list(names)[:MOST_GRADIENTS]


def most_common(counts: Counter[C]) -> dict[C, int]:
    """The counts, largest first; equal ones in the order of what was counted."""
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


@dataclass(slots=True)
class ClassSummary:
    """The counts of a class; `kinds_of` has for each row the likeliest mistake in each gradient.

    `suspicious` are the flags that say more than what the student is told, `noted` the others.
    """

    outcomes: dict[Gradient, Counter[Outcome]] = field(default_factory=lambda: defaultdict(Counter))
    kinds: dict[str, KindCount] = field(default_factory=lambda: defaultdict(KindCount))
    kinds_in: dict[Gradient, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    kinds_of: list[dict[Gradient, str]] = field(default_factory=list)
    suspicious: Flagged = field(default_factory=list)
    noted: Flagged = field(default_factory=list)

    def add(self, row: Row, lines: Lines) -> None:
        """Count a student in; `lines` are those of the files that count or have flags."""
        kinds: dict[Gradient, str] = {}
        for cell in row.cells:
            if cell.counts and (report := lines[cell.counts.id].report):
                self._add_verdicts(report, kinds)
        for kind in set(kinds.values()):
            self.kinds[kind].students += 1
        self.kinds_of.append(kinds)
        flags = [
            (file.name, flag) for file in row.files if file.flags for flag in lines[file.id].flags
        ]
        for flagged, says_more in ((self.suspicious, True), (self.noted, False)):
            if own := [(name, flag) for name, flag in flags if is_suspicion(flag) is says_more]:
                flagged.append((row, own))

    def _add_verdicts(self, report: Report, kinds: dict[Gradient, str]) -> None:
        for verdict in report.verdicts:
            gradient = sys.intern(report.notebook), sys.intern(verdict.name)
            self.outcomes[gradient][verdict.outcome] += 1
            if not verdict.diagnosis:
                continue
            likeliest = verdict.diagnosis[0]
            # interned: each line of the journal brings its own copies of a few names
            kinds[gradient] = kind = sys.intern(likeliest.kind)
            self.kinds_in[gradient][kind] += 1
            count = self.kinds[kind]
            count.gradients[gradient] += 1
            if likeliest.message in count.messages or len(count.messages) < MOST_MESSAGES:
                count.messages[likeliest.message] += 1

    def most_missed(self) -> list[Gradient]:
        """The gradients, those first that earn the fewest students their points."""
        return sorted(self.outcomes, key=lambda gradient: (-self.missed(gradient), gradient))

    def missed(self, gradient: Gradient) -> Fraction:
        """The share of those who handed the notebook in, and do not earn the gradient's points."""
        outcomes = self.outcomes[gradient]
        earned = sum(number for outcome, number in outcomes.items() if outcome in EARNS_POINTS)
        return 1 - Fraction(earned, outcomes.total())

    def counts(self, gradient: Gradient) -> dict[Outcome, int]:
        """How often each outcome occurs, in the order of `Outcome`."""
        outcomes = self.outcomes[gradient]
        return {outcome: outcomes[outcome] for outcome in Outcome if outcomes[outcome]}

    def likeliest_kind(self, gradient: Gradient) -> str:
        """The mistake that is made most often in a gradient; "" if none is known."""
        return next(iter(most_common(self.kinds_in[gradient])), "")

    def most_common_kinds(self) -> list[tuple[str, KindCount]]:
        """The mistakes, those first that most students make."""
        return sorted(self.kinds.items(), key=lambda item: (-item[1].students, item[0]))


def flag_kinds(flagged: Flagged) -> dict[str, int]:
    """How often each kind of flag is there."""
    return most_common(Counter(flag.kind for _, flags in flagged for _, flag in flags))


def is_suspicion(flag: Flag) -> bool:
    """True if the flag says more than what the student is told."""
    return flag.kind not in FOR_STUDENTS


def distribution(table: Table) -> tuple[Fraction, list[int]]:
    """The most points there are, and how many graded students have how many, in equal bins.

    There are no bins where nobody is graded, or nothing earns a point.
    """
    rows = [row for row in table.rows if row.graded]
    top = max((row.max_points for row in rows), default=Fraction(0))
    if top <= 0:
        return top, []
    bins = next((n for n in range(MOST_BINS, 4, -1) if (top / n).denominator == 1), MOST_BINS)
    counts = Counter(min(int(row.points / top * bins), bins - 1) for row in rows)
    return top, [counts[n] for n in range(bins)]


def figures(table: Table, summary: ClassSummary) -> list[tuple[str, str]]:
    """The summary numbers, each with what it counts."""
    points = sorted(row.points for row in table.rows if row.graded)
    missing = sum(row.status is Status.MISSING for row in table.rows)
    late = sum(any(cell.status is Status.LATE for cell in row.cells) for row in table.rows)
    partly = sum(
        row.graded
        and any(not cell.graded and cell.status is not Status.EXCUSED for cell in row.cells)
        for row in table.rows
    )
    full = sum(row.graded and row.points == row.max_points for row in table.rows)
    unreadable = sum(bool(file.error) for row in table.rows for file in row.files)
    averages = [("median", statistics.median), ("mean", statistics.mean)] if points else []
    return [
        ("students", f"{len(table.rows):,}"),
        ("graded", f"{len(points):,}"),
        *((f"{name} points", _one_place(average(points))) for name, average in averages),
        ("with all points", f"{full:,}"),
        *([("not all notebooks", f"{partly:,}")] if len(table.columns) > 1 else []),
        ("late", f"{late:,}"),
        ("handed in nothing", f"{missing:,}"),
        ("unreadable files", f"{unreadable:,}"),
        ("to be looked at", f"{len(summary.suspicious):,}"),
    ]


def _one_place(number: Fraction | float) -> str:
    return f"{float(number):.1f}".removesuffix(".0")
