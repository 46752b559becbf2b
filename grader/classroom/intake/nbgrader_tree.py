"""nbgrader's course: submitted/STUDENT/ASSIGNMENT/NOTEBOOK.ipynb."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from grader.classroom.intake.class_folder import Remark
from grader.classroom.intake.file_names import file_sighting, owner_of
from grader.classroom.intake.sighting import (
    TIMESTAMP,
    Sighting,
    Sightings,
    as_instant,
    attempt_of,
    names_its_zone,
)
from grader.classroom.intake.walk import Parts, Tree
from grader.printable import counted

NBGRADER = "nbgrader"

SUBMITTED = "submitted"
_SIBLINGS = {"autograded", "feedback", "gradebook.db", "nbgrader_config.py", "release", "source"}
"""What a course has beside what was handed in."""
_TIMESTAMP_BYTES = 200


def base_of(tree: Tree) -> Parts | None:
    """Where the students' folders lie, or None where this is not nbgrader's course."""
    tops = tree.tops | {parts[0] for parts in tree.others}
    stamps = [parts for parts in tree.others if parts[-1] == TIMESTAMP]
    timed = any(parts[0] == SUBMITTED and len(parts) == 4 for parts in stamps)
    students = {parts[0] for parts in tree.candidates}
    if (SUBMITTED,) in tree.folders and (tops & _SIBLINGS or (timed and SUBMITTED in students)):
        return (SUBMITTED,)
    stamped = {parts[0] for parts in stamps if len(parts) == 3}
    named = tree.root.resolve().name == SUBMITTED
    nested = {parts[0] for parts in tree.candidates if len(parts) > 2}
    # Of one student alone it would be one who has called a file timestamp.txt.
    if 2 * len(stamped & students) > len(students) or (named and 2 * len(nested) > len(students)):
        return ()
    return None


def read_nbgrader(tree: Tree, base: Parts) -> Sightings:
    """The students' folders below `base`, the times that nbgrader wrote beside the notebooks."""
    depth = len(base)
    stamps = [parts for parts in tree.others if parts[-1] == TIMESTAMP]
    times = {
        parts[:-1]: _read_time(tree.root.joinpath(*parts))
        for parts in stamps
        if parts[:depth] == base and len(parts) == depth + 3
    }

    def sighting(parts: Parts) -> Sighting:
        submitted = as_instant(times.get(parts[: depth + 2], ""))
        return Sighting(parts, (owner_of(parts[depth]),), submitted, attempt=attempt_of(parts[-1]))

    inside = [parts for parts in tree.candidates if parts[:depth] == base and len(parts) > depth]
    outside = len(tree.candidates) - len(inside)
    sightings = [
        sighting(parts) if len(parts) > depth + 1 else file_sighting(parts, tree)
        for parts in inside
    ]
    others = [
        sighting(parts)
        for parts in tree.others
        if parts[:depth] == base and len(parts) > depth + 1 and parts[-1] != TIMESTAMP
    ]
    have = {file.submitters for file in sightings}
    timed = [
        (file, times[file.parts[: depth + 2]])
        for file in (*sightings, *(file for file in others if file.submitters not in have))
        if file.parts[: depth + 2] in times
    ]
    unclear = sum(file.submitted is None for file, _ in timed)
    guessed = sum(bool(file.submitted) and not names_its_zone(time) for file, time in timed)
    notices: list[str] = []
    if outside:
        notices.append(
            Remark(
                f"Not looked at, since nbgrader's or the course's own: {counted(outside, 'file')} "
                f"outside {SUBMITTED}/."
            )
        )
    if unclear:
        files = counted(unclear, "file")
        notices.append(f"{files} beside a {TIMESTAMP} that cannot be read as a time.")
    if guessed:
        notices.append(
            f"The {TIMESTAMP} of {counted(guessed, 'file')} does not say which zone it is in, or "
            "only by letters: read as UTC, as nbgrader does."
        )
    folders = [p[depth] for p in tree.folders if p[:depth] == base and len(p) == depth + 1]
    people = [owner_of(name) for name in folders]
    return Sightings(NBGRADER, sightings, people, notices, frozenset(stamps), others)


def _read_time(path: Path) -> str:
    try:
        # A student may have handed in a link, or a pipe that nobody writes to, of this name.
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return ""
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            return ""
        return file.read(_TIMESTAMP_BYTES).decode("utf-8", "replace")
