"""When a student handed something in, as Moodle's grading worksheet says it in English words."""

from __future__ import annotations

from calendar import day_name
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
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

_DAYS = tuple(day_name)
_FORMS = ("%d %B %Y %I:%M %p", "%B %d %Y %I:%M %p", "%d %B %Y %H:%M", "%B %d %Y %H:%M")
"""Without the day of the week. Of more than five strptime would make the expressions anew."""


def moodle_time(text: str) -> datetime | None:
    """The time, which has no zone; None where it cannot be told for sure.

    >>> moodle_time("Friday, 20 November 2026, 6:00 PM").isoformat()
    '2026-11-20T18:00:00'
    >>> moodle_time("Sunday, November 20, 2026, 6:00 PM") is None  # it was a Friday
    True
    >>> moodle_time("20 November 2026, 6:00") is None  # AM, or PM
    True
    """
    words = text.replace(",", " ").split()
    weekday = words.pop(0).capitalize() if words and words[0].capitalize() in _DAYS else ""
    said = " ".join(words)
    for form in _FORMS:
        with suppress(ValueError):
            time = datetime.strptime(said, form)
            # 24 hours have two digits: a language that leaves PM out has one
            unsure = form.endswith("%H:%M") and said[-5] == " " and said[-4] != "0"
            is_day = weekday in ("", _DAYS[time.weekday()])
            return time if is_day and not unsure and time.year // 100 == 20 else None
    return None


def times_in(roster: Roster) -> tuple[dict[str, datetime], dict[str, str]]:
    """When each student of a worksheet handed in, in this machine's zone; and what is no time."""
    if not (column := roster.column(LAST_MODIFIED)):
        return {}, {}
    written = {
        row.student: text
        for row in roster.rows
        if row.student and (text := roster.at(row.cells, column).strip()) not in ("", "-")
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
            "worksheet, read in this machine's time zone, since it names none."
        )
    if unclear:
        whose = [each.name or each.id for each in students if each.id in unclear]
        example = printable(next(iter(unclear.values())))
        yield (
            f"{LAST_MODIFIED!r} of {named(whose)} cannot be read as a time ({example!r}, for one): "
            "download the worksheet with Moodle set to English. None of them is late by it."
        )
