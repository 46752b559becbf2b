"""What names and times tell of each file: who handed it in, when, and which attempt it is."""

from __future__ import annotations

import os
import re
import unicodedata
from dataclasses import dataclass, field
from datetime import UTC, datetime

from grader.classroom.intake.walk import Parts, stem

_ZONE = re.compile(r"(?P<time>.*\d)\s*(?P<zone>[A-Za-z]+|[+-]\d\d:?\d\d)\Z")

TIMESTAMP = "timestamp.txt"
"""What nbgrader writes beside what was handed in; it says when."""
_UTC = {"UTC", "GMT", "Z"}
_DOWNLOADED_AGAIN = re.compile(r" ?\((\d{1,3})\)\Z")
"""What a browser appends to the name of a file that is there already."""


@dataclass(frozen=True, slots=True)
class Submitter:
    """Somebody who handed something in, as far as the names tell.

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
    """A folder as one convention reads it.

    `people` are seen by other things than `files`; they may be submitters of files as well.
    `used` are other files that told something, `others` those that somebody handed in.
    """

    convention: str
    files: list[Sighting]
    people: list[Submitter] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)
    used: frozenset[Parts] = frozenset()
    others: list[Sighting] = field(default_factory=list)


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


def as_instant(text: str) -> datetime | None:
    """The time that is written there; without a zone, or with one by its letters, it is in UTC.

    Letters ("CST") name several zones; nbgrader, whose files these are, reads UTC as well.

    >>> as_instant("2026-11-21 08:30:00.125 UTC").isoformat()
    '2026-11-21T08:30:00.125000+00:00'
    >>> as_instant("soon") is None
    True
    """
    text, zone = text.strip(), ""
    if marked := _ZONE.fullmatch(text):
        text, zone = marked["time"], marked["zone"]
    text = re.sub(r"(\.\d{6})\d+", r"\1", text)  # Ruby writes nanoseconds
    try:
        time = datetime.fromisoformat(text + (zone if zone[:1] in "+-" else ""))
        return time if time.tzinfo else time.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return None


def names_its_zone(text: str) -> bool:
    """True if the zone is written there so that only one can be meant."""
    marked = _ZONE.fullmatch(text.strip())
    return marked is not None and (marked["zone"][0] in "+-" or marked["zone"].upper() in _UTC)
