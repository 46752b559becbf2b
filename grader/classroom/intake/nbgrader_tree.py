"""nbgrader's course: submitted/STUDENT/ASSIGNMENT/NOTEBOOK.ipynb."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from grader.classroom.intake.class_folder import Remark
from grader.classroom.intake.file_names import file_sighting, owner_of
from grader.classroom.intake.sighting import (
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
TIMESTAMP = "timestamp.txt"
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
    times = {parts[:-1]: parts for parts in tree.others if parts[-1] == TIMESTAMP}
    sightings, outside, unclear, guessed = [], 0, 0, 0
    for parts in tree.candidates:
        inner = parts[depth:]
        if parts[:depth] != base or not inner:
            outside += 1
        elif len(inner) == 1:
            sightings.append(file_sighting(parts, tree))
        else:
            stamp = times.get(parts[: depth + 2])
            time = _read_time(tree.root.joinpath(*stamp)) if stamp else ""
            submitted = as_instant(time)
            unclear += bool(stamp) and submitted is None
            guessed += submitted is not None and not names_its_zone(time)
            attempt = attempt_of(parts[-1])
            sightings.append(Sighting(parts, (owner_of(inner[0]),), submitted, attempt=attempt))
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
    others = [
        Sighting(parts, (owner_of(parts[depth]),))
        for parts in tree.others
        if parts[:depth] == base and len(parts) > depth + 1
    ]
    return Sightings(NBGRADER, sightings, people, notices, frozenset(times.values()), others)


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
