"""The codes that stand in a gradebook's tables: statuses, letters of outcomes, kinds of flags."""

from __future__ import annotations

from enum import StrEnum

from grader.verdict import Outcome

LETTERS = {outcome: outcome.value[0] for outcome in Outcome}
"""A letter for each outcome, so that the outcomes of a whole class are a few short strings."""
OUTCOMES = {letter: outcome for outcome, letter in LETTERS.items()}

NOTHING = "-"
"""The letter of a gradient on which a file has no verdict."""

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
the grader, and to be looked at: a suspicion is not feedback."""

EARNED_NOTHING = "earned-nothing"
"""The flag of a file that was to earn points and counts for next to nothing."""


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


class Attempts(StrEnum):
    """What decides between several files of one student for one notebook."""

    LATEST = "latest"
    BEST = "best"
    FIRST = "first"


class Role(StrEnum):
    """What a file is to its student's row, in the order in which files are named."""

    COUNTS = "counts"
    SUPERSEDED = "superseded"
    """It was graded, and another file counts."""
    UNREADABLE = "unreadable"
    """It could not be graded."""
    ELSEWHERE = "elsewhere"
    """It belongs to no notebook of this gradebook."""
