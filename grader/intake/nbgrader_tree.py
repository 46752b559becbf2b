"""nbgrader's course: submitted/STUDENT/ASSIGNMENT/NOTEBOOK.ipynb."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from grader.intake.file_names import file_sighting
from grader.intake.sighting import Reading, Sighting, Submitter, attempt_of, spelled
from grader.intake.times import as_instant, names_its_zone
from grader.intake.walk import Found, Tree

NBGRADER = "nbgrader"

SUBMITTED = "submitted"
TIMESTAMP = "timestamp.txt"
_SIBLINGS = {"autograded", "feedback", "gradebook.db", "nbgrader_config.py", "release", "source"}
"""What a course has beside what was handed in."""
_TIMESTAMP_BYTES = 200
_READ_FILES_ONLY = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
"""Windows has neither flag, nor the pipes."""


def base_of(tree: Tree) -> tuple[str, ...] | None:
    """Where the students' folders lie, or None where this is not nbgrader's course."""
    tops = {found.parts[0] for found in (*tree.candidates, *tree.others)}
    tops |= {parts[0] for parts in tree.folders}
    timed = {found.parts[:-3] for found in tree.others if _is_timestamp(found)}
    if (SUBMITTED,) in tree.folders and (tops & _SIBLINGS or (SUBMITTED,) in timed):
        return (SUBMITTED,)
    students = {found.parts[0] for found in tree.candidates}
    stamped = {f.parts[0] for f in tree.others if _is_timestamp(f) and len(f.parts) == 3}
    named = tree.root.resolve().name == SUBMITTED
    nested = {found.parts[0] for found in tree.candidates if len(found.parts) > 2}
    # Of one student alone it would be one who has called a file timestamp.txt.
    if 2 * len(stamped & students) > len(students) or (named and 2 * len(nested) > len(students)):
        return ()
    return None


def _is_timestamp(found: Found) -> bool:
    return found.name == TIMESTAMP and len(found.parts) in (3, 4)


def read_nbgrader(tree: Tree, base: tuple[str, ...]) -> Reading:
    """The students' folders below `base`, the times that nbgrader wrote beside the notebooks."""
    depth = len(base)
    times = {found.parts[:-1]: found for found in tree.others if found.name == TIMESTAMP}
    sightings, outside, unclear, guessed = [], 0, 0, 0
    for found in tree.candidates:
        inner = found.parts[depth:]
        if found.parts[:depth] != base or not inner:
            outside += 1
        elif len(inner) == 1:
            sightings.append(file_sighting(found))
        else:
            stamp = times.get(found.parts[: depth + 2])
            time = _read_time(tree.root.joinpath(*stamp.parts)) if stamp else ""
            submitted = as_instant(time)
            unclear += bool(stamp) and submitted is None
            guessed += submitted is not None and not names_its_zone(time)
            sightings.append(
                Sighting(found, (_student(inner[0]),), submitted, attempt=attempt_of(found.name))
            )
    notices = []
    if outside:
        notices.append(
            f"{outside} file(s) outside {SUBMITTED}/ are nbgrader's or the course's own, "
            "and not looked at."
        )
    if unclear:
        notices.append(f"{unclear} file(s) beside a {TIMESTAMP} that cannot be read as a time.")
    if guessed:
        notices.append(
            f"The {TIMESTAMP} of {guessed} file(s) does not say which zone it is in, or only by "
            "letters: read as UTC, as nbgrader does."
        )
    handed_in = {who.id for sighting in sightings for who in sighting.submitters}
    folders = (p[depth] for p in tree.folders if p[:depth] == base and len(p) == depth + 1)
    without = [who for name in folders if (who := _student(name)).id not in handed_in]
    return Reading(
        NBGRADER, tuple(sightings), tuple(without), tuple(notices), frozenset(times.values())
    )


def _student(name: str) -> Submitter:
    return Submitter(spelled(name), keys=(spelled(name),))


def _read_time(path: Path) -> str:
    try:
        # A student may have handed in a link, or a pipe that nobody writes to, of this name.
        descriptor = os.open(path, _READ_FILES_ONLY)
    except OSError:
        return ""
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            return ""
        return file.read(_TIMESTAMP_BYTES).decode("utf-8", "replace")
