"""Two gradebooks compared: who moved, which mistakes went, which came."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

from grader.classroom.gradebook.adjustments import NONE, Adjustments
from grader.classroom.gradebook.make_cell import Attempts
from grader.classroom.gradebook.make_table import build_table
from grader.classroom.gradebook.read_grades import (
    Grades,
    NoGradebook,
    read_grades,
    refuse_other_course,
)
from grader.classroom.gradebook.report.mistakes import Gradient, mistake_key, title_of
from grader.classroom.gradebook.rubric import Rubric
from grader.classroom.gradebook.table import LETTERS, OUTCOMES, Row, Status
from grader.classroom.gradebook.write import lines_of
from grader.classroom.intake.class_folder import ClassFolder
from grader.classroom.run.results import RESULTS, Results
from grader.reports.wording import WRONG
from grader.submission.notebook_file import shown
from grader.user_error import UserError
from grader.verdict import EARNS_POINTS, Outcome

Shares = tuple[Fraction, Fraction, Fraction]
"""Of all gradients that were handed in: right, wrong, not yet done."""


@dataclass(frozen=True, slots=True)
class Book:
    """What a comparison needs of a gradebook.

    `rows` has the table's rows of who is in it, `mistakes` how many students made which in which
    gradient. `names` are those that its `grades.csv` knows.
    """

    names: Mapping[str, str]
    rows: Mapping[str, Row]
    mistakes: Counter[tuple[Gradient, str]]
    seeds: frozenset[int]

    def points(self, student: str) -> Fraction | None:
        """A student's points; None for who is excused."""
        row = self.rows[student]
        return None if row.status is Status.EXCUSED else row.points

    def outcomes(self, student: str) -> dict[Gradient, Outcome]:
        """A student's outcomes, in the order of the course."""
        return {
            (cell.column.notebook, gradient): OUTCOMES[letter]
            for cell in self.rows[student].cells
            if cell.counts
            for gradient, letter in zip(cell.counts.gradients, cell.counts.outcomes, strict=True)
        }

    @property
    def shares(self) -> Shares | None:
        """How much is right, wrong, and not yet done; None where nothing was graded."""
        letters = Counter[str]()
        for cell in (cell for row in self.rows.values() for cell in row.cells):
            letters.update(cell.counts.outcomes if cell.counts else "")
        total = letters.total()
        if not total:
            return None
        wrong = sum(letters[LETTERS[outcome]] for outcome in WRONG)
        todo = letters[LETTERS[Outcome.TODO]]
        right = total - wrong - todo
        return Fraction(right, total), Fraction(wrong, total), Fraction(todo, total)


@dataclass(frozen=True, slots=True)
class Moved:
    """A student of both gradebooks whose points, or gradients, are not what they were.

    Points are None where the student was excused. `adjusted` is True if the points are, in one of
    them, what the instructor made of them.
    """

    student: str
    before: Fraction | None
    after: Fraction | None
    gained: tuple[Gradient, ...]
    lost: tuple[Gradient, ...]
    adjusted: bool

    @property
    def by(self) -> Fraction:
        """How many points more; 0 where the student is excused in one of the gradebooks."""
        if self.before is None or self.after is None:
            return Fraction(0)
        return self.after - self.before


@dataclass(frozen=True, slots=True)
class MistakeChange:
    """A mistake in a gradient that another number of students made than before."""

    gradient: Gradient
    title: str
    before: int
    after: int


@dataclass(frozen=True, slots=True)
class Comparison:
    """What is different between two gradebooks.

    `moved` has the students whose points changed most first, `changes` the mistakes that changed
    most. `left` handed in for the old gradebook only, `joined` for the new one; `values_known` is
    False where the hidden networks differ, so that mistakes without a diagnosis are not told apart.
    """

    old: Book
    new: Book
    moved: tuple[Moved, ...]
    same: int
    left: tuple[str, ...]
    joined: tuple[str, ...]
    changes: tuple[MistakeChange, ...]
    values_known: bool


def read_book(
    folder: Path,
    rubric: Rubric,
    attempts: Attempts = Attempts.LATEST,
    adjustments: Adjustments = NONE,
) -> Book:
    """Read a gradebook's results; with its options, what counts is what counts in its report.

    Raises:
        NoGradebook: there are no results in the folder.
        OtherCourse: they are of notebooks that the rubric's course does not have.
        UnusableAdjustment: a line of the adjustments does not fit what was handed in.
        BrokenResults: a line of the results is not a result.
        OSError: they cannot be read.
    """
    results = folder / RESULTS
    if not results.is_file():
        raise NoGradebook(
            f"{shown(folder)} holds no gradebook ({RESULTS}): name the folder that `grader grade` "
            "was given as --out."
        )
    try:
        written = read_grades(folder)
    except UserError:  # then ids have to do for names
        written = Grades((), {})
    if not rubric.notebooks:  # then those count that `grades.csv` has
        due = tuple(name for name in rubric.course.notebooks if name in written.most)
        rubric = replace(rubric, notebooks=due)
    names = {row.student.id: row.student.name for row in written.rows if row.student.name}
    nobody = ClassFolder(folder, "", (), ())
    table = build_table(nobody, results, rubric, attempts, adjustments)
    mistakes: Counter[tuple[Gradient, str]] = Counter()
    seeds, notebooks = set(), set()
    with Results(results) as opened:
        for row in table.rows:
            counting = {cell.counts.id for cell in row.cells if cell.counts}
            for line in lines_of(row, opened).values():
                seeds.add(line.run.seed)
                if line.report is None:
                    continue
                notebook = sys.intern(line.report.notebook)
                notebooks.add(notebook)
                if line.file.id in counting:
                    mistakes.update(
                        ((notebook, sys.intern(verdict.name)), mistake_key(verdict))
                        for verdict in line.report.verdicts
                        if verdict.outcome in WRONG
                    )
    refuse_other_course(folder, notebooks, rubric.course)
    rows = {row.student.id: row for row in table.rows}
    return Book(names, rows, mistakes, frozenset(seeds))


def compare(old: Book, new: Book) -> Comparison:
    """Compare two gradebooks of one course, student by student."""
    both = sorted(old.rows.keys() & new.rows.keys())
    looked_at = [_moved(student, old, new) for student in both]
    moved = [each for each in looked_at if each.before != each.after or each.gained or each.lost]
    moved.sort(key=lambda each: (-abs(each.by), each.student))
    values_known = old.seeds == new.seeds
    before, after = (_comparable(book.mistakes, values_known) for book in (old, new))
    changes = [
        MistakeChange(gradient, title_of(key, max(b, a) if values_known else 1), b, a)
        for gradient, key in before.keys() | after.keys()
        if (b := before[gradient, key]) != (a := after[gradient, key])
    ]
    changes.sort(key=lambda c: (-abs(c.after - c.before), c.gradient, c.title))
    return Comparison(
        old,
        new,
        tuple(moved),
        len(both) - len(moved),
        tuple(sorted(old.rows.keys() - new.rows.keys())),
        tuple(sorted(new.rows.keys() - old.rows.keys())),
        tuple(changes),
        values_known,
    )


def _moved(student: str, old: Book, new: Book) -> Moved:
    before, after = old.outcomes(student), new.outcomes(student)
    earned = {gradient for gradient, outcome in before.items() if outcome in EARNS_POINTS}
    earns = {gradient for gradient, outcome in after.items() if outcome in EARNS_POINTS}
    # In the order of the course, from the loss down.
    gained = tuple(gradient for gradient in after if gradient in earns - earned)
    lost = tuple(gradient for gradient in before if gradient in earned - earns)
    adjusted = old.rows[student].adjusted or new.rows[student].adjusted
    return Moved(student, old.points(student), new.points(student), gained, lost, adjusted)


def _comparable(
    mistakes: Counter[tuple[Gradient, str]], values_known: bool
) -> Counter[tuple[Gradient, str]]:
    """The counts; where values of the two gradebooks cannot be equal, those are one mistake."""
    if values_known:
        return mistakes
    counts: Counter[tuple[Gradient, str]] = Counter()
    for (gradient, key), number in mistakes.items():
        counts[gradient, "value:" if key.startswith("value:") else key] += number
    return counts
