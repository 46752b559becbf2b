"""The students of a class and their submissions, as data."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from grader.classroom.intake.walk import Parts
from grader.classroom.notices import Notice
from grader.classroom.spreadsheet import CsvForm
from grader.user_error import UserError, reason


class UnreadableClass(UserError):
    """A folder does not hold a class's submissions, or a class list cannot be read."""


@contextmanager
def explained(trouble: str) -> Iterator[None]:
    """Turn the system's error about a file or folder into an UnreadableClass: `trouble: why`."""
    try:
        yield
    except (OSError, ValueError) as error:  # ValueError: a null byte in the path itself
        raise UnreadableClass(f"{trouble}: {reason(error)}.") from None


@dataclass(frozen=True, slots=True)
class Student:
    """A student of the class; `keys` are the student's other names in a class list."""

    id: str
    name: str = ""
    email: str = ""
    keys: tuple[str, ...] = field(default=(), compare=False)


@dataclass(frozen=True, slots=True)
class HandedIn:
    """One submitted file, as the folder describes it.

    `path` is the file's path inside the folder, in which bytes that are not UTF-8 are escaped. `id`
    is the same path; if a group handed in the file together, it is followed by a space and the
    student in brackets. `submitted` is a time in ISO 8601, and `attempt` counts the marks of a
    convention ("-1", " (2)"). The file may be unreadable, or not a file at all, so `sha256` is None
    until it was read. `parts` say where to open it, and are missing in a line of the results.
    `modified` is the time when the file was last changed, in seconds since 1970, if the student has
    several files and this time means anything. `reason` is the sentence that says why the file
    cannot be accepted.

    A file that is about to be graded carries its `data`, so that other machines do not need the
    folder. Its `stamp` is what the file system said about it before it was read, or None if this is
    not a reliable sign that the file is unchanged.
    """

    id: str
    student: str
    path: str
    sha256: str | None = None
    late: bool = False
    submitted: str | None = None
    attempt: int = 0
    parts: Parts = field(default=(), compare=False)
    modified: float | None = field(default=None, compare=False)
    reason: str = field(default="", compare=False)
    data: bytes = field(default=b"", compare=False, repr=False)
    stamp: str | None = field(default=None, compare=False)

    @property
    def name(self) -> str:
        """The file as its owner knows it, without the folders, which may contain others' names."""
        return self.path.rpartition("/")[2]


@dataclass(frozen=True, slots=True)
class RosterRow:
    """A line of the class list as it is; `student` is "" if it names no student."""

    cells: tuple[str, ...]
    student: str


@dataclass(frozen=True, slots=True)
class Roster:
    r"""A class list, kept whole so that the same file can be written again with grades.

    The file consists of `sep`, `header` (which may be empty), `above` (the rows between the header
    and the students, such as Canvas's "Points Possible") and `rows`. Two rows may name the same
    student.
    """

    kind: str
    header: tuple[str, ...]
    above: tuple[tuple[str, ...], ...]
    rows: tuple[RosterRow, ...]
    form: CsvForm

    def column(self, name: str) -> str:
        """The column with that name, in capitals or not; "" if there is none."""
        return next((own for own in self.header if own.casefold() == name.casefold()), "")

    def at(self, cells: tuple[str, ...], column: str) -> str:
        """The cell of a row in a column; "" if there is no such column."""
        index = self.header.index(column) if column in self.header else len(cells)
        return cells[index] if index < len(cells) else ""


@dataclass(frozen=True, slots=True)
class ClassFolder:
    """The students of a class and their files, both sorted by the student's id.

    The ids of files are paths in the folder `root`, and `notices` are for the instructor. `doubt`
    is a sentence that says why the class list may be the wrong one, or "" if it seems right.
    """

    root: Path
    convention: str
    students: tuple[Student, ...]
    handed_in: tuple[HandedIn, ...]
    notices: tuple[Notice, ...] = ()
    roster: Roster | None = None
    doubt: str = ""
