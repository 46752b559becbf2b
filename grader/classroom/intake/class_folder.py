"""What a class handed in, as values."""

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
    """A folder that is not a class of students, or a class list that cannot be read."""


@contextmanager
def explained(trouble: str) -> Iterator[None]:
    """Turn what the system says about a file or folder into an UnreadableClass: `trouble: why`."""
    try:
        yield
    except (OSError, ValueError) as error:  # ValueError: a null byte in the path itself
        raise UnreadableClass(f"{trouble}: {reason(error)}.") from None


@dataclass(frozen=True, slots=True)
class Student:
    """One of the class; `keys` are what else a class list calls the student by."""

    id: str
    name: str = ""
    email: str = ""
    keys: tuple[str, ...] = field(default=(), compare=False)


@dataclass(frozen=True, slots=True)
class HandedIn:
    """One file handed in, as the folder tells of it.

    `path` is the file's path inside the folder, with what is not UTF-8 escaped; `id` is the same,
    but where a group handed it in together, a space and the student in brackets follow. `submitted`
    is a time in ISO 8601, `attempt` counts a convention's own marks ("-1", " (2)"). Nothing says
    that the file can be read, or is a file: `sha256` is None until it was. Where it is opened,
    `parts` tell; a line of the results has none. `modified` is when the file itself was changed, in
    seconds since 1970, where a student has several and it says anything. `reason` is the sentence
    why it cannot be taken.

    What is graded carries its `data`, so that no other machine need see the folder, and its
    `stamp`: what the file system said of the file before it was read, None where that is no sure
    sign that it is still the same.
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
        """The file as its owner knows it: without the folders, which may hold others' names."""
        return self.path.rpartition("/")[2]


@dataclass(frozen=True, slots=True)
class RosterRow:
    """A line of the class list as it is; `student` is "" where it names nobody."""

    cells: tuple[str, ...]
    student: str


@dataclass(frozen=True, slots=True)
class Roster:
    r"""A class list, kept whole so that the same file can be written again with grades in it.

    The file is `sep`, `header` (empty where it has none), `above` (rows between the header and the
    students, such as Canvas's "Points Possible"), `rows`. Two rows may name one student.
    """

    kind: str
    header: tuple[str, ...]
    above: tuple[tuple[str, ...], ...]
    rows: tuple[RosterRow, ...]
    form: CsvForm

    def column(self, name: str) -> str:
        """The column of that name, however its capitals are; "" if there is none."""
        return next((own for own in self.header if own.casefold() == name.casefold()), "")

    def at(self, cells: tuple[str, ...], column: str) -> str:
        """What a row has in a column; "" if there is none of that name."""
        index = self.header.index(column) if column in self.header else len(cells)
        return cells[index] if index < len(cells) else ""


@dataclass(frozen=True, slots=True)
class ClassFolder:
    """Who is in the class, and what was handed in, both sorted by the student's id.

    `root` is the folder that ids are paths in; `notices` are for the instructor. `doubt` is the
    sentence why the class list may be the wrong one, "" where nothing speaks for that.
    """

    root: Path
    convention: str
    students: tuple[Student, ...]
    handed_in: tuple[HandedIn, ...]
    notices: tuple[Notice, ...] = ()
    roster: Roster | None = None
    doubt: str = ""
