"""What names tell of each file: who handed it in, when, and which attempt it is."""

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
"""What a browser appends to the name of a file that is there already."""


@dataclass(frozen=True, slots=True)
class Submitter:
    """Somebody who handed something in, as far as the names tell.

    `id` is how they are called where no roster knows better; `keys` are what may stand in a
    roster's columns of ids; `words` may hold one of those among others. `canvas` is Canvas's own
    number, whose `name` is in one word, `participant` Moodle's, which is another one in each
    assignment. `folder` says that all this is the name of their folder, of which only a part may be
    in a roster.
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
    """One file, and the one or several who handed it in.

    Where its name can be read in several ways, `instead` are the others, the longest name last.
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

    `people` are seen by other things than `files`; they may be submitters of files as well.
    `used` are other files that told something, `others` those that somebody handed in. `sure` is
    False if those may be anything's, such as data/, unless a class list says whose they are.
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

    Composed, since a Mac takes "é" apart and other systems do not; bytes that are not UTF-8 are
    spelled out.
    """
    text = os.fsencode(name).decode("utf-8", "backslashreplace")
    return unicodedata.normalize("NFC", text).strip() or text


def attempt_of(name: str) -> int:
    """The number that a browser put behind a file's name; 0 where there is none."""
    marked = _DOWNLOADED_AGAIN.search(stem(name))
    return int(marked[1]) if marked else 0


def words_in(name: str) -> tuple[str, ...]:
    """The words of a file's or folder's name, one of which may be somebody's id."""
    return tuple(word for word in re.split(r"[\s_,+()-]+", name) if len(word) > 2)


def owner_of(folder: str) -> Submitter:
    """The student whom a folder of this name belongs to."""
    name = spelled(folder)
    return Submitter(name, keys=(name,), words=words_in(name), folder=True)


def common_beginning(names: Iterable[str], sign: str) -> str:
    """What all the names begin with, up to the last of the signs in it; "" for no sign.

    >>> common_beginning(["backprop-ada", "backprop-alan"], "-")
    'backprop-'
    """
    ordered = sorted(names)
    if not sign or not ordered or ordered[0] == ordered[-1]:
        return ""  # of one name, nobody can say where it ends
    pairs = enumerate(zip(ordered[0], ordered[-1], strict=False))
    same = next((n for n, (one, other) in pairs if one != other), len(ordered[0]))
    return ordered[0][: ordered[0].rfind(sign, 0, same) + 1]
