"""A time at which something is due, as people write it."""

from __future__ import annotations

from datetime import datetime

from grader.printable import printable

_DAY = len("2026-11-20")


def read_due(text: str) -> datetime:
    """The time; a day that is due is over when it ends.

    >>> read_due("2026-11-20").isoformat(), read_due("2026-11-20T18:00").isoformat()
    ('2026-11-20T23:59:59', '2026-11-20T18:00:00')

    Raises:
        ValueError: it is no time; the message is a sentence.
    """
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise ValueError(
            f"{printable(text)!r} is no time: write 2026-11-20, 2026-11-20T18:00 or "
            "2026-11-20T18:00+01:00."
        ) from None
    return moment.replace(hour=23, minute=59, second=59) if len(text) <= _DAY else moment
