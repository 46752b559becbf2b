"""Who is in a class, and what they handed in."""

from grader.intake.class_folder import (
    ClassFolder,
    HandedIn,
    Roster,
    RosterRow,
    Student,
    UnreadableFolder,
    UnreadableRoster,
)
from grader.intake.class_reader import read_class

__all__ = [
    "ClassFolder",
    "HandedIn",
    "Roster",
    "RosterRow",
    "Student",
    "UnreadableFolder",
    "UnreadableRoster",
    "read_class",
]
