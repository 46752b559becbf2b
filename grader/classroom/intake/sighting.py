"""What a file's name tells: who handed it in, when, and which attempt it is."""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime

from grader.classroom.intake.walk import Parts, stem
from grader.classroom.notices import Notice

_DOWNLOADED_AGAIN = re.compile(r" ?\((\d{1,3})\)\Z")
"""What a browser appends to the name of a file if it already exists."""


@dataclass(frozen=True, slots=True)
class Submitter:
    """Somebody who handed something in, as far as the names tell.

    `id` is used if no roster knows better. `keys` may occur in a roster's columns of ids, and one
    of `words` may be such a key. `canvas` is Canvas's own number, whose `name` is one word, and
    `participant` is Moodle's, which differs between assignments. `folder` is true if all this comes
    from the name of their folder, of which a roster may have only a part.
    """

    id: str
    name: str = ""
    email: str = ""
    keys: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    canvas: str = ""
    participant: str = ""
    folder: bool = False


@dataclass(frozen=True, slots=True)
class Sighting:
    """One file, and the student or students who handed it in.

    If its name can be read in several ways, `instead` holds the other readings, with the longest
    name last.
    """

    parts: Parts
    submitters: tuple[Submitter, ...]
    submitted: datetime | None = None
    late: bool = False
    attempt: int = 0
    instead: tuple[Sighting, ...] = ()


@dataclass(frozen=True, slots=True)
class Sightings:
    """A folder as one layout reads it.

    `people` were found by something other than `files`, but may be submitters of files as well.
    `used` are other files that told something, and `others` are other files that somebody handed
    in. `sure` is False if those may belong to no student, as data/ may, unless a class list says
    whose they are.
    """

    layout: str
    files: list[Sighting]
    people: list[Submitter] = field(default_factory=list)
    notices: list[Notice] = field(default_factory=list)
    used: frozenset[Parts] = frozenset()
    others: list[Sighting] = field(default_factory=list)
    sure: bool = True


def spelled(name: str) -> str:
    r"""A file's or folder's name as the name of a person.

    It is composed, because a Mac splits "é" into two characters and other systems do not. Bytes
    that are not UTF-8 are spelled out.
    """
    text = os.fsencode(name).decode("utf-8", "backslashreplace")
    return unicodedata.normalize("NFC", text).strip() or text


def attempt_of(name: str) -> int:
    """The number that a browser appended to a file's name, or 0 if there is none."""
    marked = _DOWNLOADED_AGAIN.search(stem(name))
    return int(marked[1]) if marked else 0


def words_in(name: str) -> tuple[str, ...]:
    """The words of a file's or folder's name, one of which may be somebody's id."""
    return tuple(word for word in re.split(r"[\s_,+()-]+", name) if len(word) > 2)


def owner_of(folder: str) -> Submitter:
    """The student to whom a folder with this name belongs."""
    name = spelled(folder)
    return Submitter(name, keys=(name,), words=words_in(name), folder=True)


def common_beginning(names: Iterable[str], sign: str) -> str:
    """The common beginning of all names, up to the last `sign` in it; "" if it has none.

    >>> common_beginning(["backprop-ada", "backprop-alan"], "-")
    'backprop-'
    """
    ordered = sorted(names)
    if not sign or not ordered or ordered[0] == ordered[-1]:
        return ""  # of one name, nobody can say where it ends
    pairs = enumerate(zip(ordered[0], ordered[-1], strict=False))
    same = next((n for n, (one, other) in pairs if one != other), len(ordered[0]))
    return ordered[0][: ordered[0].rfind(sign, 0, same) + 1]
