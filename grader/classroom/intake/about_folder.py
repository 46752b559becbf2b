"""Notices about a folder of submissions for the instructor."""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime

from grader.classroom.intake.class_folder import HandedIn, Roster, Student
from grader.classroom.intake.platform_layouts import CANVAS
from grader.classroom.intake.times import time_in_words
from grader.classroom.intake.walk import SOLUTIONS, Parts, Tree, as_text
from grader.classroom.notices import Note, Notice
from grader.printable import printable


def about_files(tree: Tree, used: Collection[Parts]) -> Iterator[Notice]:
    """Notices about files in the folder that are not looked at, except those that were used."""
    spellings = defaultdict(set)
    for top, *_ in tree.candidates:
        spellings[unicodedata.normalize("NFC", top)].add(top)
    if twice := [name for name, spelled in spellings.items() if len(spelled) > 1]:
        yield Notice("spelled-twice", names=twice)
    if tree.ignored:
        names = ", ".join(f"{count} × {name}" for name, count in sorted(tree.ignored.items()))
        yield Note("ignored", names=names)
    left = {
        "solutions": tree.solutions,
        "unopened": tree.unopened,
        "links": tree.links,
        "closed": tree.closed,
    }
    for code, paths in left.items():
        if paths:
            yield Notice(code, paths=[*map(as_text, paths)], folder=SOLUTIONS)
    if others := [as_text(parts) for parts in tree.others if parts not in used]:
        yield Note("others", paths=others)


def about_time(
    due: datetime | None, handed_in: Sequence[HandedIn], convention: str, told: Collection[str]
) -> Iterator[Notice]:
    """Notices about who is late, and for whom this is unknown, except the students in `told`."""
    if due is None:
        return
    untimed = [item for item in handed_in if not item.submitted and item.student not in told]
    if due.tzinfo is None and any(item.submitted for item in handed_in):
        yield Note("zone", due=due.astimezone().isoformat(" "))
    if untimed and convention == CANVAS:
        late = sum(item.late for item in untimed)
        yield Notice("canvas-late", late=late, untimed=len(untimed))
    elif untimed:
        yield Notice("no-times", untimed=len(untimed), files=len(handed_in))


# moodle/moodle, mod/assign/gradingtable.php: "-" where nothing was submitted, else userdate() with
# strftimedaydatetime of the teacher's language, in the teacher's zone: "Friday, 20 November 2026,
# 6:00 PM" in English, "Friday, November 20, 2026, 6:00 PM" in that of the United States. Newer
# versions have a narrow space before PM.

LAST_MODIFIED = "Last modified (submission)"


def times_in(roster: Roster) -> tuple[dict[str, datetime], dict[str, str]]:
    """When each student of a worksheet handed in, in this machine's zone, and the bad cells."""
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
) -> Iterator[Notice]:
    """Notices about where the times come from, and which cannot be read."""
    if known:
        yield Note("worksheet-times", students=len(known))
    if unclear:
        whose = [each.name or each.id for each in students if each.id in unclear]
        example = printable(next(iter(unclear.values())))
        yield Notice("unread-time", column=LAST_MODIFIED, students=whose, example=example)
