"""When a student handed something in, as Moodle's grading worksheet says it in English words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime

from grader.classroom.intake.about_folder import named
from grader.classroom.intake.class_folder import Remark, Roster, Student
from grader.classroom.intake.times import time_in_words
from grader.printable import counted, printable

# moodle/moodle, mod/assign/gradingtable.php: "-" where nothing was submitted, else userdate() with
# strftimedaydatetime of the teacher's language, in the teacher's zone: "Friday, 20 November 2026,
# 6:00 PM" in English, "Friday, November 20, 2026, 6:00 PM" in that of the United States. Newer
# versions have a narrow space before PM.

LAST_MODIFIED = "Last modified (submission)"


def times_in(roster: Roster) -> tuple[dict[str, datetime], dict[str, str]]:
    """When each student of a worksheet handed in, in this machine's zone; and what is no time."""
    if not (column := roster.column(LAST_MODIFIED)):
        return {}, {}
    written = {
        row.student: text
        for row in roster.rows
        if row.student and (text := roster.at(row.cells, column).strip()) not in ("", "-")
    }
    times = {student: time_in_words(text) for student, text in written.items()}
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
