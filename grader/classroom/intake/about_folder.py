"""What an instructor should know of a folder of submissions."""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime

from grader.classroom.intake.class_folder import HandedIn, Remark, Roster, Student
from grader.classroom.intake.platform_layouts import CANVAS
from grader.classroom.intake.times import time_in_words
from grader.classroom.intake.walk import SOLUTIONS, Parts, Tree, as_text
from grader.printable import counted, listed, printable

SHOWN = 5
"""So many are named where there may be thousands."""


def named(names: Iterable[str], last: str = "and") -> str:
    """The names in a sentence, of very many the first."""
    return listed(map(printable, names), last, most=SHOWN)


def spelled_twice(tree: Tree) -> Iterator[str]:
    """Which names at the top are two to the file system, and one to people."""
    spellings = defaultdict(set)
    for top, *_ in tree.candidates:
        spellings[unicodedata.normalize("NFC", top)].add(top)
    twice = [name for name, spelled in spellings.items() if len(spelled) > 1]
    if twice:
        yield (
            "Two names to the file system that look the same (accents as one character or two), "
            f"taken for one student: {named(twice)}."
        )


def left_out(tree: Tree, used: Collection[Parts]) -> Iterator[str]:
    """What lies in the folder and is not looked at, but for the files that told something."""
    if tree.ignored:
        names = ", ".join(f"{count} × {name}" for name, count in sorted(tree.ignored.items()))
        yield Remark(f"Not handed in on purpose, and not looked at: {names}.")
    if tree.solutions:
        yield (
            f"Notebooks in a folder {SOLUTIONS}/ beside other notebooks are the course's own and "
            f"are not graded: {named(map(as_text, tree.solutions))}."
        )
    if tree.unopened:
        yield f"Zip files from which no notebook is taken: {named(map(as_text, tree.unopened))}."
    if tree.links:
        yield f"Links to folders, which are not followed: {named(map(as_text, tree.links))}."
    if tree.closed:
        yield (
            "Folders that cannot be listed, so that nothing in them is graded: "
            f"{named(map(as_text, tree.closed))}. Make them readable for you, and give the same "
            "command again."
        )
    if others := [as_text(parts) for parts in tree.others if parts not in used]:
        yield Remark(f"Other files, which are no notebooks and not looked at: {named(others)}.")


def about_time(
    due: datetime | None, handed_in: Sequence[HandedIn], convention: str, told: Collection[str]
) -> Iterator[str]:
    """What decides who is late, and of whom nobody knows; but for the students in `told`."""
    if due is None:
        return
    untimed = [item for item in handed_in if not item.submitted and item.student not in told]
    if due.tzinfo is None and any(item.submitted for item in handed_in):
        local = due.astimezone()
        yield Remark(f"Due is {local.isoformat(' ')}: --due has no zone, so it is this machine's.")
    if untimed and convention == CANVAS:
        late = counted(sum(item.late for item in untimed), "file")
        yield (
            f"Late is what Canvas marks LATE, by its own due date: {late} of {len(untimed):,}. Its "
            "download does not say when a file was handed in: --due decides nothing, nor do the"
            " files' own times."
        )
    elif untimed:
        yield (
            f"The folder does not say when {len(untimed):,} of {counted(len(handed_in), 'file')} "
            "came, and none of them is late. With --file-times, the files' own times decide."
        )


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
