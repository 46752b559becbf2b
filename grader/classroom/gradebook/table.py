"""The class as a table: a row a student, a cell a notebook."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from types import MappingProxyType

from grader.classroom.intake.class_folder import HandedIn, Student
from grader.classroom.run.settings import Versions
from grader.verdict import Outcome

LETTERS = {outcome: outcome.value[0] for outcome in Outcome}
"""A letter for each outcome, so that the outcomes of a whole class are a few short strings."""
OUTCOMES = {letter: outcome for outcome, letter in LETTERS.items()}


NO_POINTS: Mapping[str, Fraction] = MappingProxyType({})
"""One for all: a large class has hundreds of thousands of cells, and in most there is none."""


FOR_STUDENTS = frozenset(
    {
        "metadata-dropped",
        "duplicate-answer",
        "missing-answer",
        "not-code",
        "other-exercise",
        "time-limit",
        "unreadable",
        "unreadable-answer",
    }
)
"""Flags that a student's page shows. All others, and any to come, are between the instructor and
the grader, and to be looked at: a suspicion is no feedback."""


EARNED_NOTHING = "earned-nothing"
"""What `flags` calls a file of `Row.lost`."""


class Status(StrEnum):
    """What became of a student's notebook, in the order in which tables name them."""

    GRADED = "graded"
    LATE = "late"
    """Graded, and late."""
    AWARDED = "awarded"
    """No file was graded: the points are the instructor's."""
    EXCUSED = "excused"
    """It counts neither for the student nor against: its points are not among the most."""
    UNREADABLE = "unreadable"
    MISSING = "missing"


@dataclass(frozen=True, slots=True)
class Column:
    """A notebook with its gradients, each with its exercise's prefix, and the most it earns."""

    notebook: str
    gradients: tuple[tuple[str, str], ...]
    max_points: Fraction
    earned: Mapping[tuple[str, str], int]
    """What a gradient's name with the letter of its outcome earns, in `parts` of a point."""
    parts: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FileResult(HandedIn):
    """What the table keeps of a line of the results; the rest is read again where it is needed.

    `notebook` is "" where the file could not be graded and its name does not tell; `error` is the
    sentence why, "" for a graded file. `outcomes` has a letter for each of `gradients`; `lost` is
    the code why next to nothing of it counts.
    """

    notebook: str
    gradients: tuple[str, ...]
    outcomes: str
    error: str
    flags: tuple[str, ...]
    lost: str = ""


@dataclass(frozen=True, slots=True)
class Cell:
    """A student's notebook: the file that counts, if any, and the others.

    `superseded` are other files that were graded, and do not count; `why` says by what they were
    told apart, `earns` what each of all these would earn ("" and empty where there is one).
    `unreadable` are those that could not be graded. `adjusted` are sentences of what the instructor
    changed, `comments` why; `set_points` has the points of gradients that the instructor set.
    `untimed` is True where there was an extension, and nobody knows when the file that counts came;
    `kept` is the share of its points that this file keeps.
    """

    column: Column
    status: Status
    points: Fraction
    max_points: Fraction
    counts: FileResult | None = None
    superseded: tuple[FileResult, ...] = ()
    unreadable: tuple[FileResult, ...] = ()
    why: str = ""
    earns: Mapping[str, Fraction] = field(default_factory=lambda: NO_POINTS)
    adjusted: tuple[str, ...] = ()
    comments: tuple[str, ...] = ()
    set_points: Mapping[str, Fraction] = field(default_factory=lambda: NO_POINTS)
    untimed: bool = False
    kept: Fraction = Fraction(1)

    @property
    def graded(self) -> bool:
        """True if the notebook has points: of the file that counts, or from the instructor."""
        return self.status in (Status.GRADED, Status.LATE, Status.AWARDED)


@dataclass(frozen=True, slots=True)
class Row:
    """A student: a cell for each column, and the files that belong to none.

    `elsewhere` could not be graded and do not say by their names what they were to be, or are no
    column of this gradebook.
    """

    student: Student
    page: str
    cells: tuple[Cell, ...]
    elsewhere: tuple[FileResult, ...] = ()
    comments: tuple[str, ...] = ()
    """The instructor's, on no notebook in particular."""

    @property
    def points(self) -> Fraction:
        """What all notebooks earn together."""
        return sum((cell.points for cell in self.cells), Fraction(0))

    @property
    def max_points(self) -> Fraction:
        """The most that all notebooks can earn."""
        return sum((cell.max_points for cell in self.cells), Fraction(0))

    @property
    def files(self) -> tuple[FileResult, ...]:
        """Everything that was handed in and looked at."""
        graded = tuple(
            file
            for cell in self.cells
            for file in ((cell.counts,) if cell.counts else ()) + cell.superseded + cell.unreadable
        )
        return graded + self.elsewhere

    @property
    def flags(self) -> tuple[str, ...]:
        """The kinds of flags to be looked at, of older files as well: a human should see those."""
        kinds = (kind for file in self.files for kind in file.flags)
        of_files = (kind for kind in kinds if kind not in FOR_STUDENTS)
        return *of_files, *(EARNED_NOTHING for _ in self.lost)

    @property
    def lost(self) -> list[FileResult]:
        """The files that were to earn points and count for next to nothing.

        Where the instructor has decided already, there are none.
        """
        missing = any(cell.status is Status.MISSING for cell in self.cells)
        found = [file for file in self.elsewhere if file.error and missing]
        for cell in self.cells:
            if cell.status is Status.UNREADABLE:
                found += cell.unreadable
            elif cell.counts and cell.counts.lost and not cell.adjusted:
                found.append(cell.counts)
        return found

    @property
    def status(self) -> Status:
        """`late` if one notebook is, else `graded`, else `awarded`.

        Where no notebook has points, `excused` if all are, `unreadable` if a file is, or `missing`.
        """
        for status in (Status.LATE, Status.GRADED, Status.AWARDED):
            if any(cell.status is status for cell in self.cells):
                return status
        if self.cells and all(cell.status is Status.EXCUSED for cell in self.cells):
            return Status.EXCUSED
        if any(file.error for file in self.files):
            return Status.UNREADABLE
        return Status.MISSING

    @property
    def graded(self) -> bool:
        """True if at least one notebook has points."""
        return any(cell.graded for cell in self.cells)

    @property
    def adjusted(self) -> bool:
        """True if the instructor changed something, or said something."""
        return bool(self.comments) or any(cell.adjusted or cell.comments for cell in self.cells)


@dataclass(frozen=True, slots=True)
class Table:
    """The whole class, sorted by the students' ids."""

    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    sandboxes: Mapping[str, int]
    """How many files were graded in each sandbox."""
    versions: frozenset[Versions]
    left_out: tuple[str, ...] = ()
    """Notebooks that do not count, since few handed them in."""
    awarded: Mapping[str, Fraction] = field(default_factory=lambda: NO_POINTS)
    """Out of how many points the instructor's own were given, by `Change.key`."""

    @property
    def max_points(self) -> Fraction:
        """The most that a student can earn of whom all notebooks count."""
        return sum((column.max_points for column in self.columns), Fraction(0))
