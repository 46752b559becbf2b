"""Times of submission, in the forms that platforms write."""

from __future__ import annotations

import os
import re
import stat
from calendar import day_name
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

TIMESTAMP = "timestamp.txt"
"""The file that nbgrader and Sakai write beside a submission, with its time."""

_ZONE = re.compile(r"(?P<time>.*\d)\s*(?P<zone>[A-Za-z]+|[+-]\d\d:?\d\d)\Z")
_UTC = {"UTC", "GMT", "Z"}
_TIMESTAMP_BYTES = 200

_DAYS = tuple(day_name)
_FORMS = ("%d %b %Y %I:%M %p", "%b %d %Y %I:%M %p", "%d %b %Y %H:%M", "%b %d %Y %H:%M")
"""The forms without the day of the week. For more than five, strptime would compile them anew."""


def as_instant(text: str) -> datetime | None:
    """Read a time. If it has no zone, or a zone in letters, it is read as UTC.

    Letters such as "CST" name several zones. These files are nbgrader's, which reads UTC as well.

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
    """True if the text names a zone without ambiguity."""
    marked = _ZONE.fullmatch(text.strip())
    return marked is not None and (marked["zone"][0] in "+-" or marked["zone"].upper() in _UTC)


def time_in_words(text: str) -> datetime | None:
    """Read a time in Moodle's or Brightspace's English, without a zone; None if it is unclear.

    They do not write days in numbers, and 11/10 could be either of two days.

    >>> time_in_words("Friday, 20 November 2026, 6:00 PM").isoformat()
    '2026-11-20T18:00:00'
    >>> time_in_words("Nov 20, 2026 1159 PM").isoformat()
    '2026-11-20T23:59:00'
    >>> time_in_words("Sunday, November 20, 2026, 6:00 PM") is None  # it was a Friday
    True
    >>> time_in_words("20 November 2026, 6:00") is None  # AM, or PM
    True
    """
    text = re.sub(r"\b(\d{1,2})(\d\d)(?=\s[AP]M\Z)", r"\1:\2", text.replace(",", " "))
    words = text.split()
    weekday = words.pop(0).capitalize() if words and words[0].capitalize() in _DAYS else ""
    said = " ".join(word[:3] if word.isalpha() else word for word in words)
    for form in _FORMS:
        with suppress(ValueError):
            time = datetime.strptime(said, form)
            # 24 hours have two digits: a language that leaves PM out has one
            unsure = form.endswith("%H:%M") and said[-5] == " " and said[-4] != "0"
            is_day = weekday in ("", _DAYS[time.weekday()])
            return time if is_day and not unsure and time.year // 100 == 20 else None
    return None


def digits_as_time(text: str) -> datetime | None:
    """Read a time that Blackboard or Sakai writes in digits, year first and without a zone.

    >>> digits_as_time("2026-11-20-18-05-00"), digits_as_time("20261120180500123")
    (datetime.datetime(2026, 11, 20, 18, 5), datetime.datetime(2026, 11, 20, 18, 5))
    """
    with suppress(ValueError):
        return datetime.strptime(re.sub(r"\D", "", text)[:14], "%Y%m%d%H%M%S")
    return None


def read_stamp(path: Path) -> str:
    """What stands in a file called timestamp.txt; nothing where it is not a file."""
    try:
        # A student may have handed in a link, or a pipe that nobody writes to, of this name.
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return ""
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            return ""
        return file.read(_TIMESTAMP_BYTES).decode("utf-8", "replace")
