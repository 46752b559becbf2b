"""What can be said of a class as a whole, gathered student by student."""

from __future__ import annotations

import statistics
import sys
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from grader.gradebook.results_file import GradedFile
from grader.gradebook.student_page import FOR_STUDENTS
from grader.gradebook.table import Row, Status, Table
from grader.verdict import EARNS_POINTS, Flag, Outcome, Report

Gradient = tuple[str, str]
"""A notebook with the name of one of its gradients."""

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
    def times(self) -> int:
        return sum(self.gradients.values())

    @property
    def message(self) -> str:
        """What was said most often; of several, the first by the alphabet."""
        return min(self.messages, key=lambda text: (-self.messages[text], text), default="")


@dataclass(frozen=True, slots=True)
class Flagged:
    """A student whose files a human should see, with each flag and the file it stands in."""

    row: Row
    flags: tuple[tuple[str, Flag], ...]

    @property
    def suspicious(self) -> bool:
        """Whether one of them is more than what the student is told as well."""
        return any(is_suspicion(flag) for _, flag in self.flags)


def is_suspicion(flag: Flag) -> bool:
    return flag.kind == "autograd" or flag.kind not in FOR_STUDENTS


@dataclass(slots=True)
class ClassSummary:
    """The counts of a class; `kinds_of` has for each row the likeliest mistake in each gradient."""

    outcomes: dict[Gradient, Counter[Outcome]] = field(default_factory=lambda: defaultdict(Counter))
    kinds: dict[str, KindCount] = field(default_factory=lambda: defaultdict(KindCount))
    kinds_in: dict[Gradient, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    kinds_of: list[dict[Gradient, str]] = field(default_factory=list)
    flagged: list[Flagged] = field(default_factory=list)

    def add(
        self, row: Row, graded: Mapping[str, GradedFile], flags_of: Mapping[str, Sequence[Flag]]
    ) -> None:
        """Count a student in, by the files that count and the flags of all."""
        kinds: dict[Gradient, str] = {}
        for cell in row.cells:
            if cell.counts:
                self._add_verdicts(graded[cell.counts.id].report, kinds)
        for kind in set(kinds.values()):
            self.kinds[kind].students += 1
        self.kinds_of.append(kinds)
        flags = [
            (file.file.rpartition("/")[2], flag)
            for file in row.files
            for flag in flags_of.get(file.id, ())
        ]
        if flags:
            self.flagged.append(Flagged(row, tuple(flags)))

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

    def most_common_kinds(self) -> list[tuple[str, KindCount]]:
        return sorted(self.kinds.items(), key=lambda item: (-item[1].students, item[0]))


@dataclass(frozen=True, slots=True)
class Bin:
    """How many students have from `low` to `high` points, the last of them only in the last bin."""

    low: Fraction
    high: Fraction
    students: int


def distribution(table: Table, most: int = 20) -> list[Bin]:
    """The totals of all students of whom something was graded, in equal bins."""
    rows = [row for row in table.rows if row.graded]
    if not rows:
        return []
    top = max(row.max_points for row in rows)
    if top <= 0:
        return []
    bins = next((n for n in range(most, 4, -1) if (top / n).denominator == 1), most)
    counts = Counter(min(int(row.points / top * bins), bins - 1) for row in rows)
    return [Bin(top / bins * n, top / bins * (n + 1), counts[n]) for n in range(bins)]


def figures(table: Table, summary: ClassSummary) -> list[tuple[str, str]]:
    """The summary numbers, each with what it counts."""
    points = sorted(row.points for row in table.rows if row.graded)
    statuses = Counter(row.status for row in table.rows)
    late = sum(any(cell.status is Status.LATE for cell in row.cells) for row in table.rows)
    partly = sum(
        row.graded and any(cell.counts is None for cell in row.cells) for row in table.rows
    )
    full = sum(row.graded and row.points == row.max_points for row in table.rows)
    unreadable = sum(bool(file.error) for row in table.rows for file in row.files)
    suspicious = sum(flagged.suspicious for flagged in summary.flagged)
    return [
        *_few("students", len(table.rows)),
        ("graded", f"{len(points):,}"),
        *([("median points", _one_place(statistics.median(points)))] if points else []),
        *([("mean points", _one_place(Fraction(sum(points), len(points))))] if points else []),
        ("with all points", f"{full:,}"),
        *(_few("not all notebooks", partly) if len(table.columns) > 1 else []),
        *_few("late", late),
        *_few("handed in nothing", statuses[Status.MISSING]),
        *_few("unreadable files", unreadable),
        *_few("to be looked at", suspicious),
    ]


def _few(what: str, number: int) -> list[tuple[str, str]]:
    return [(what, f"{number:,}")]


def _one_place(number: Fraction | float) -> str:
    return f"{float(number):.1f}".removesuffix(".0")


def sandboxes(table: Table) -> Sequence[tuple[str, int]]:
    """How many files were graded in which sandbox."""
    counts: Counter[str] = Counter()
    for facts, number in table.run.items():
        counts[facts.sandbox] += number
    return sorted(counts.items())
