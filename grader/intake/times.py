"""Times as systems write them, as instants."""

from __future__ import annotations

import re
from datetime import UTC, datetime

_ZONE = re.compile(r"(?P<time>.*\d)\s*(?P<zone>[A-Za-z]+|[+-]\d\d:?\d\d)\Z")

_UTC = {"UTC", "GMT", "Z"}


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
    """Whether the zone is written there so that only one can be meant."""
    marked = _ZONE.fullmatch(text.strip())
    return marked is not None and (marked["zone"][0] in "+-" or marked["zone"].upper() in _UTC)
