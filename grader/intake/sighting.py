"""What a convention of file names tells of each file."""

from __future__ import annotations

import os
import re
import unicodedata
from dataclasses import dataclass
from datetime import datetime

from grader.intake.walk import Found, stem

_DOWNLOADED_AGAIN = re.compile(r" ?\((\d{1,3})\)\Z")
"""What a browser appends to the name of a file that is there already."""


@dataclass(frozen=True, slots=True)
class Submitter:
    """Whoever handed something in, as far as the names tell.

    `id` is how they are called where no roster knows better; `keys` are what may stand in a
    roster's columns of ids; `words` may hold one of those among others. `canvas` is Canvas's own
    number, whose `name` is in one word, `participant` Moodle's, which is another one in each
    assignment.
    """

    id: str
    name: str = ""
    email: str = ""
    keys: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    canvas: str = ""
    participant: str = ""


@dataclass(frozen=True, slots=True)
class Sighting:
    """One file, and the one or several who handed it in."""

    found: Found
    submitters: tuple[Submitter, ...]
    submitted: datetime | None = None
    late: bool = False
    attempt: int = 0


@dataclass(frozen=True, slots=True)
class Reading:
    """A folder as one convention reads it.

    `empty_handed` are those of whom there is no file; `used` are files that told something.
    """

    convention: str
    sightings: tuple[Sighting, ...]
    empty_handed: tuple[Submitter, ...] = ()
    notices: tuple[str, ...] = ()
    used: frozenset[Found] = frozenset()


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
