"""`adjustments.csv`: the instructor's decisions about single students."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from functools import partial
from itertools import zip_longest
from pathlib import Path
from types import MappingProxyType
from typing import Any

from grader.classroom.gradebook.rubric import MOST, number_in
from grader.classroom.intake.class_folder import Student
from grader.classroom.intake.csv_file import read_csv_file
from grader.classroom.spreadsheet import unescaped
from grader.close_names import did_you_mean, nearest
from grader.printable import listed, printable
from grader.program.course import Course
from grader.submission.notebook_file import shown
from grader.user_error import UserError

ADJUSTMENTS = "adjustments.csv"
"""The file in a gradebook that the instructor writes and `grader grade` reads."""

FIELDS = ("id", "notebook", "gradient", "points", "excused", "due", "attempt", "comment")

_YES, _NO = ("yes", "y", "true", "1", "x", "excused"), ("no", "n", "false", "0")

_SHOWN = 10
"""The most unusable lines that one message names."""

_DAY = len("2026-11-20")


class UnusableAdjustment(UserError):
    """A line of the file names an unknown student or thing; the message has its number."""


@dataclass(frozen=True, slots=True)
class Change:
    """A line of the file: whom and what it is about, and what it changes.

    Everything that the line does not say is None or "". `notebook` is "" if the line is about all
    of them, and `gradient` is "" if it is about the whole notebook. `attempt` is the name or the
    number of a file, and `where` names the line in sentences.
    """

    where: str
    student: str
    notebook: str = ""
    gradient: str = ""
    points: Fraction | None = None
    excused: bool | None = None
    due: datetime | None = None
    attempt: str = ""
    comment: str = ""

    @property
    def key(self) -> str:
        """The key by which the same points are recognised when the file is read again."""
        return "\t".join((self.student, self.notebook, self.gradient, str(self.points)))

    @property
    def sets(self) -> frozenset[str]:
        """What a later line about the same place replaces; a comment alone counts, too."""
        said = {"points": self.points, "excused": self.excused, "due": self.due}
        named = {name for name, value in said.items() if value is not None}
        return frozenset(named | {"attempt"} if self.attempt else named or {"comment"})


Adjustments = Mapping[str, tuple[Change, ...]]
"""All changes in force, by student, in the order of the file."""

NONE: Adjustments = MappingProxyType({})


def read_adjustments(path: Path, course: Course, students: Iterable[Student]) -> Adjustments:
    """Read the file. If several lines concern the same thing, the last one counts.

    Raises:
        UnusableAdjustment: some lines name an unknown student or thing, or say nothing; the message
            has the number of each.
        UnreadableClass: the file is not a CSV file.
    """
    table = read_csv_file(path, "file of adjustments")
    header = [cell.strip().lower() for cell in table.rows[0]] if table.rows else []
    if "id" not in header or not {*header} <= {*FIELDS, ""}:
        raise UnusableAdjustment(
            f"{shown(path)} needs a header with id and any of {', '.join(FIELDS[1:])}; it has "
            f"{listed(map(printable, header)) if header else 'none'}."
        )
    ids, known = set[str](), defaultdict[str, set[str]](set)
    for student in students:
        ids.add(student.id)
        for key in filter(None, (student.id, student.email, student.name, *student.keys)):
            known[_key(key)].add(student.id)
    find = partial(_id_of, ids=ids, known=known)
    between = {",": "comma", ";": "semicolon"}.get(table.form.delimiter, "sign between cells")
    found, complaints = [], []
    for number, cells in zip(table.lines[1:], table.rows[1:], strict=True):
        if not any(cell.strip() for cell in cells):
            continue
        pairs = zip_longest(header, cells, fillvalue="")
        said = {name: unescaped(cell.strip()) for name, cell in pairs if cell.strip()}
        where = f"Line {number} of {shown(path)}"
        try:
            if "" in said:
                raise ValueError(
                    f"{printable(said[''])!r} is in no column. A text with a {between} in it "
                    "stands in quotes."
                )
            found.append(_change(said, where, course, find))
        except ValueError as error:
            complaints.append(f"{where}: {error}")
    refuse(complaints)
    return _in_force(found)


def refuse(complaints: Sequence[str]) -> None:
    """Raise UnusableAdjustment if there are complaints; only the first of very many are named."""
    if complaints:
        more = len(complaints) - _SHOWN
        rest = [f"{more} more lines cannot be used."] if more > 0 else []
        raise UnusableAdjustment("\n".join([*complaints[:_SHOWN], *rest]))


def _in_force(found: Sequence[Change]) -> Adjustments:
    held: dict[str, list[Change]] = defaultdict(list)
    later: dict[tuple[str, str, str], set[str]] = defaultdict(set)
    for change in reversed(found):
        about = later[change.student, change.notebook, change.gradient]
        if not change.sets <= about:
            held[change.student].append(change)
        about |= change.sets
    return {student: tuple(changes[::-1]) for student, changes in reversed(held.items())}


def _id_of(text: str, ids: Collection[str], known: Mapping[str, set[str]]) -> str:
    """Find the student of a line; `known` maps all names of the students, in lower case, to ids."""
    if text in ids:
        return text
    found = known.get(_key(text), set())
    if len(found) == 1:
        return next(iter(found))
    if found:
        raise ValueError(f"{printable(text)!r} may be {listed(sorted(found), 'or')}.")
    # Numbers are not matched by similarity, because a similar number is another student's.
    close = [] if any(map(str.isdecimal, text)) else nearest(text, ids)
    meant = (
        f"did you mean {listed(map(printable, close), 'or')}?"
        if close
        else "an id is what the column id of grades.csv has, or the class list's login, SIS id, "
        "email address or name."
    )
    raise ValueError(f"nobody in the class has the id {printable(text)!r}; {meant}")


def _key(text: str) -> str:
    """The key to look up, which is the same for "Lovelace, Ada" and "ada lovelace"."""
    return " ".join(sorted(text.casefold().replace(",", " ").split()))


def _change(
    said: Mapping[str, str], where: str, course: Course, find: Callable[[str], str]
) -> Change:
    if not said.get("id"):
        raise ValueError("it has no id.")
    if said.keys() <= {"id", "notebook", "gradient"}:
        raise ValueError("it changes nothing: it has neither points nor anything else.")
    notebook, gradient = _place(said.get("notebook", ""), said.get("gradient", ""), course)
    student = find(said["id"])
    values = {name: read(said[name]) for name, read in _READ.items() if name in said}
    if values.get("excused") and "points" in said:
        raise ValueError("points and excused contradict each other: who is excused has no points.")
    if gradient and (not_whole := {"due", "attempt"} & said.keys()):
        raise ValueError(f"{listed(sorted(not_whole))} cannot be said of one gradient.")
    return Change(where, student, notebook, gradient, **values)


def _place(notebook: str, gradient: str, course: Course) -> tuple[str, str]:
    if notebook:
        notebook = course.notebook_called(notebook)
    if not gradient:
        return notebook, ""
    having = [
        name
        for name in ([notebook] if notebook else course.notebooks)
        if gradient in (known for _, known in course.gradients(name))
    ]
    if len(having) == 1:
        return having[0], gradient
    if having:
        raise ValueError(f"{gradient} is asked for in {listed(having)}: which notebook?")
    names = [n for book in course.notebooks for _, n in course.gradients(book)]
    meant = did_you_mean([gradient], names)
    within = f" in {notebook}" if notebook else ""
    raise ValueError(
        f"there is no gradient {printable(gradient)!r}{within}{f'; {meant}' if meant else '.'}"
    )


def _points(text: str) -> Fraction:
    number = number_in(text)
    if number is not None and 0 <= number <= MOST:
        return number
    raise ValueError(f"points is {printable(text)!r}, but has to be a number from 0 to {MOST:,}.")


def _yes(text: str) -> bool:
    if text.lower() in (*_YES, *_NO):
        return text.lower() in _YES
    raise ValueError(f"excused is {printable(text)!r}, but has to be yes or no.")


def read_due(text: str) -> datetime:
    """Read a due time. A date alone means the end of that day.

    >>> read_due("2026-11-20").isoformat(), read_due("2026-11-20T18:00").isoformat()
    ('2026-11-20T23:59:59', '2026-11-20T18:00:00')

    Raises:
        ValueError: the text cannot be read as a time; the message is a sentence.
    """
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise ValueError(
            f"{printable(text)!r} is not a time: write 2026-11-20, 2026-11-20T18:00 or "
            "2026-11-20T18:00+01:00."
        ) from None
    return moment.replace(hour=23, minute=59, second=59) if len(text) <= _DAY else moment


_READ: Mapping[str, Callable[[str], Any]] = {
    "points": _points,
    "excused": _yes,
    "due": read_due,
    "attempt": str,
    "comment": str,
}
