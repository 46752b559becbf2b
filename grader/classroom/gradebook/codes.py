"""The codes in a gradebook's tables: statuses, letters of outcomes and kinds of flags."""

from __future__ import annotations

from enum import StrEnum

from grader.verdict import Outcome

LETTERS = {outcome: outcome.value[0] for outcome in Outcome}
"""A letter for each outcome, so that the outcomes of a whole class are a few short strings."""
OUTCOMES = {letter: outcome for outcome, letter in LETTERS.items()}

NOTHING = "-"
"""The letter of a gradient for which a file has no verdict."""

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
"""The flags that a student's page shows. All others are for the instructor to look at, because a
suspicion is not feedback."""

EARNED_NOTHING = "earned-nothing"
"""The flag of a file that should earn points, but earns next to nothing."""


class Status(StrEnum):
    """The status of a student's notebook, in the order of the tables."""

    GRADED = "graded"
    LATE = "late"
    """Graded, and late."""
    AWARDED = "awarded"
    """No file was graded, and the instructor gave the points."""
    EXCUSED = "excused"
    """It counts neither for nor against the student, and its points are not part of the maximum."""
    UNREADABLE = "unreadable"
    MISSING = "missing"


class Attempts(StrEnum):
    """How to choose between several files of one student for one notebook."""

    LATEST = "latest"
    BEST = "best"
    FIRST = "first"


class Role(StrEnum):
    """The role of a file in its student's row, in the order in which files are named."""

    COUNTS = "counts"
    SUPERSEDED = "superseded"
    """It was graded, but another file counts."""
    UNREADABLE = "unreadable"
    """It could not be graded."""
    ELSEWHERE = "elsewhere"
    """It belongs to no notebook of this gradebook."""
