"""When a student handed something in, as Moodle's grading worksheet says it in English words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime

from grader.classroom.intake.about_folder import named
from grader.classroom.intake.class_folder import Remark, Roster, Student
from grader.printable import counted, printable

# moodle/moodle, mod/assign/gradingtable.php: "-" where nothing was submitted, else userdate() with
# strftimedaydatetime of the teacher's language, in the teacher's zone: "Friday, 20 November 2026,
# 6:00 PM" in English, "Friday, November 20, 2026, 6:00 PM" in that of the United States. Newer
# versions have a narrow space before PM. Days in numbers are no English of Moodle's: 11/10 may be
# either of two.

LAST_MODIFIED = "Last modified (submission)"

_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)
_TIME = re.compile(
    rf"(?:(?P<weekday>{'|'.join(_DAYS)}),? )?"
    rf"(?:(?P<day>\d\d?) (?P<month>{'|'.join(_MONTHS)})"
    rf"|(?P<us_month>{'|'.join(_MONTHS)}) (?P<us_day>\d\d?)),? "
    r"(?P<year>20\d\d),? (?P<hour>\d\d?):(?P<minute>\d\d)(?: (?P<half>[AP]M))?",
    re.IGNORECASE,
)


def moodle_time(text: str) -> datetime | None:
    """The time, which has no zone; None where it cannot be told for sure.

    >>> moodle_time("Friday, 20 November 2026, 6:00 PM").isoformat()
    '2026-11-20T18:00:00'
    >>> moodle_time("Sunday, November 20, 2026, 6:00 PM") is None  # it was a Friday
    True
    >>> moodle_time("20 November 2026, 6:00") is None  # AM, or PM
    True
    """
    found = _TIME.fullmatch(" ".join(text.split()))
    if found is None:
        return None
    month = (found["month"] or found["us_month"]).capitalize()
    hour = int(found["hour"])
    if half := found["half"]:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + 12 * (half.upper() == "PM")
    elif found["hour"] in "123456789":
        return None  # 24 hours have two digits: a language that leaves PM out has one
    try:
        time = datetime(
            int(found["year"]),
            _MONTHS.index(month) + 1,
            int(found["day"] or found["us_day"]),
            hour,
            int(found["minute"]),
        )
    except ValueError:
        return None
    weekday = found["weekday"]
    return None if weekday and weekday.capitalize() != _DAYS[time.weekday()] else time


def times_in(roster: Roster) -> tuple[dict[str, datetime], dict[str, str]]:
    """When each student of a worksheet handed in, in this machine's zone; and what is no time."""
    names = [name.casefold() for name in roster.header]
    if LAST_MODIFIED.casefold() not in names:
        return {}, {}
    place = names.index(LAST_MODIFIED.casefold())
    written = {
        row.student: row.cells[place].strip()
        for row in roster.rows
        if row.student and len(row.cells) > place and row.cells[place].strip() not in ("", "-")
    }
    times = {student: moodle_time(text) for student, text in written.items()}
    known = {student: time.astimezone() for student, time in times.items() if time}
    return known, {student: text for student, text in written.items() if student not in known}


def about_times(
    known: Mapping[str, datetime], unclear: Mapping[str, str], students: Iterable[Student]
) -> Iterator[str]:
    """Where the times come from, and whose cannot be read."""
    if known:
        yield Remark(
            f"The times at which {counted(len(known), 'student')} handed in are those of Moodle's "
            "worksheet, which names no time zone: taken is this machine's."
        )
    if unclear:
        whose = [each.name or each.id for each in students if each.id in unclear]
        example = printable(next(iter(unclear.values())))
        yield (
            f"{LAST_MODIFIED!r} of {named(whose)} cannot be read as a time ({example!r}, for one): "
            "download the worksheet with Moodle set to English. None of them is late by it."
        )
