"""Read a folder of submissions and a class list into a class."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from types import MappingProxyType

from grader.classroom.intake.about_folder import about_files, about_time, about_times, times_in
from grader.classroom.intake.class_folder import (
    ClassFolder,
    HandedIn,
    UnreadableClass,
    explained,
)
from grader.classroom.intake.gradescope_export import gradescope_tops, read_gradescope
from grader.classroom.intake.matching import Matcher, choose_readings, identify
from grader.classroom.intake.plain_layouts import (
    github_tops,
    nbgrader_tops,
    read_file_names,
    read_github,
    read_nbgrader,
)
from grader.classroom.intake.platform_layouts import (
    CANVAS,
    MOODLE,
    PLATFORMS,
    canvas_tops,
    is_one_download,
    moodle_tops,
    prefix_in,
    read_canvas,
    read_moodle,
    read_platform,
    tops_of,
)
from grader.classroom.intake.roster_file import NO_LIST, ClassList, read_roster
from grader.classroom.intake.sighting import Sighting, Sightings, Submitter
from grader.classroom.intake.walk import Parts, Tree, as_text, walk
from grader.classroom.notices import Note
from grader.printable import counted
from grader.program.course import Course
from grader.submission.notebook_file import shown

LAYOUTS: tuple[tuple[Callable[[Tree], set[str]], Callable[[Tree], Sightings]], ...] = (
    (gradescope_tops, read_gradescope),
    (moodle_tops, read_moodle),
    (canvas_tops, read_canvas),
    *((partial(tops_of, row), partial(read_platform, row)) for row in PLATFORMS),
    (nbgrader_tops, read_nbgrader),
    (github_tops, read_github),
)
"""For each layout, the function that finds its entries at the top, and the one that reads it."""

MOST_OTHERS = 5
"""The most files that are accepted from a student who handed in no notebook."""

_INSTEAD = (".doc", ".docx", ".htm", ".html", ".jpeg", ".jpg", ".md", ".odt", ".pdf", ".png", ".py")
"""Files that students hand in by mistake instead of a notebook, and that count as theirs even
without a class list."""


def read_class(
    folder: Path,
    course: Course,
    roster: Path | None = None,
    due: datetime | None = None,
    roster_columns: Mapping[str, str] = MappingProxyType({}),
    *,
    file_times: bool = False,
) -> ClassFolder:
    """Find out who is in the class, and what each student handed in.

    The function recognises the layouts of ten platforms, a folder for each student, and plain
    files. The class consists of every student of the roster, with or without a file, and of
    everyone who has a file. Every file that may be a submission is listed once (once for each
    member of a group), whether or not it can be read. If a student has none, the first of the other
    files are listed. In a plain folder, this is done only if the roster says whose the file is, or
    if it looks like a notebook that was saved in another form. Links are not followed, and no
    notebook is opened. Zip files count as folders.

    Args:
        folder: the submissions.
        course: the course to which they belong; files may have its notebooks' names.
        roster: the class list: a CSV file as Canvas, Moodle, nbgrader, Gradescope or GitHub
            Classroom export it, or a list with one id on each line.
        due: the time after which submissions are late; without a zone, it is in this machine's.
        roster_columns: for roles such as "id", the name or the number of their column.
        file_times: whether the time of a file's last change counts as its submission, if nothing
            else tells.

    Raises:
        UnreadableClass: the folder contains no submission, or the class list cannot be read; the
            message is a sentence.
    """
    tree = _walk(folder, course)
    seen = _read_by_layout(tree)
    if not seen.files:
        raise UnreadableClass(_nothing_in(tree))
    classes = NO_LIST if roster is None else read_roster(roster, roster_columns)
    matcher = Matcher(classes)
    seen = choose_readings(replace(seen, others=[*_somebodys(seen, matcher)]), matcher)
    sighted = (*seen.files, *seen.others)
    everyone = {who for file in sighted for who in file.submitters} | {*seen.people}
    # in an order that does not depend on the order of the files
    submitters = sorted(everyone, key=lambda who: (who.id, who.name, who.email))
    students, called, about_people = identify(submitters, classes, matcher)
    instead = [*_instead(seen, called, classes.known)]
    # A worksheet is about one assignment.
    has_worksheet = seen.layout == MOODLE and is_one_download(tree)
    times, unclear = times_in((classes if has_worksheet else NO_LIST).roster)
    timed = seen.layout != CANVAS  # Canvas gives all files the time of the download

    def submitted(file: Sighting) -> datetime | None:
        if times and prefix_in(file.parts) and (told := times.get(called[file.submitters[0]])):
            return told
        own = file_times and timed and not file.submitted
        return _modified(tree, file.parts) if own else file.submitted

    files = [replace(file, submitted=submitted(file)) for file in (*seen.files, *instead)]
    handed_in = _hand_in(files, called, due and due.astimezone(UTC), tree, timed=timed)
    students = [student for student in students if student.id != classes.tester]
    tried = [item for item in handed_in if item.student == classes.tester]
    handed_in = [item for item in handed_in if item.student != classes.tester]
    if tried:
        about_people.append(Note("test-student", files=len(tried)))
    notices = [
        *seen.notices,
        *about_files(tree, {*seen.used, *(file.parts for file in instead)}),
        *classes.notices,
        *about_people,
        *(about_times(times, unclear, students) if due is not None else ()),
        *about_time(due, handed_in, seen.layout, told=unclear),
    ]
    return ClassFolder(
        root=folder,
        convention=seen.layout,
        students=tuple(sorted(students, key=lambda student: student.id)),
        handed_in=tuple(sorted(handed_in, key=lambda item: (item.student, item.id))),
        notices=tuple(notices),
        roster=None if roster is None else classes.roster,
        doubt=_doubt(handed_in, classes),
    )


def _doubt(handed_in: Iterable[HandedIn], classes: ClassList) -> str:
    """Say why the class list may be another class's, or may have been read by the wrong columns."""
    present = {item.student for item in handed_in}
    listed = present & classes.known.keys()
    if not classes.known or 2 * len(listed) >= len(present):
        return ""
    return (
        f"Of {len(present):,} who handed something in, {len(listed):,} are in the class list: is "
        f"it this class's? {classes.columns} Other columns can be named: "
        "--roster-columns id=...,name=..."
    )


def _walk(folder: Path, course: Course) -> Tree:
    with explained(f"{shown(folder)} cannot be listed"):
        if not folder.is_dir():
            what = "is a file" if folder.exists() else "does not exist"
            raise UnreadableClass(
                f"{shown(folder)} {what}: name the folder that the submissions are in"
                + (", unpacked." if folder.exists() else ".")
            )
        return walk(folder, course.notebooks)


def _read_by_layout(tree: Tree) -> Sightings:
    """Read the folder by the layout that more than half of its top entries follow.

    The majority decides, because a student may name files as some platform would. This must not
    move another student's work, nor their own to another's name.
    """
    tops = tree.tops
    fits = (read for find, read in LAYOUTS if 2 * len(find(tree) & tops) > len(tops))
    return next(fits, read_file_names)(tree)


def _nothing_in(tree: Tree) -> str:
    if tree.candidates:  # nbgrader's course, in which nobody has handed in anything yet
        return (
            f"In {shown(tree.root)} nobody handed in a notebook: submitted/ holds none, and what "
            "lies outside it is the course's own."
        )
    count = len(tree.others)
    others = f"but {counted(count, 'other file')}" if count else "nor any other file to look at"
    closed = f"; {counted(len(tree.closed), 'folder')} cannot be listed" if tree.closed else ""
    return (
        f"In {shown(tree.root)} nobody handed in a notebook: there is no .ipynb below it, "
        f"{others}{closed}."
    )


def _somebodys(seen: Sightings, matcher: Matcher) -> Iterator[Sighting]:
    """The other files, except those at the top if no class list says whose they are."""
    for file in seen.others:
        lies_inside = seen.sure or len(file.parts) > 1
        if lies_inside or matcher.match(file.submitters[0]).student:
            yield file


def _instead(
    seen: Sightings, called: Mapping[Submitter, str], listed: Collection[str]
) -> Iterator[Sighting]:
    """The files of students who handed in no notebook, so that these are not called missing.

    If a student has very many such files, the first ones are enough. Without a class list, a plain
    folder such as data/ may belong to no student at all.
    """
    have: Counter[str] = Counter()
    for file in seen.files:
        have.update(dict.fromkeys((called[who] for who in file.submitters), MOST_OTHERS))

    def counts(who: Submitter, name: str) -> bool:
        known = seen.sure or called[who] in listed
        saved = not listed and who.folder and name.lower().endswith(_INSTEAD)
        return have[called[who]] < MOST_OTHERS and (known or saved)

    for file in seen.others:
        without = tuple(who for who in file.submitters if counts(who, file.parts[-1]))
        if without and file.parts not in seen.used:
            have.update({called[who] for who in without})
            yield replace(file, submitters=without)


def _hand_in(
    sightings: Sequence[Sighting],
    called: dict[Submitter, str],
    due: datetime | None,
    tree: Tree,
    *,
    timed: bool,
) -> list[HandedIn]:
    """List each file once for each of its students; `timed` says that files have own times."""
    owners = [sorted({called[who] for who in sighting.submitters}) for sighting in sightings]
    files_of = Counter(student for students in owners for student in students)
    handed_in = []
    taken: set[str] = set()
    for sighting, students in zip(sightings, owners, strict=True):
        for student in students:
            file = as_text(sighting.parts)
            name = file if len(students) == 1 else f"{file} ({student})"
            while name in taken:
                name += "~2"
            taken.add(name)
            after = bool(due and sighting.submitted and sighting.submitted > due)
            several = files_of[student] > 1
            modified = _modified(tree, sighting.parts) if timed and several else None
            handed_in.append(
                HandedIn(
                    id=name,
                    student=student,
                    path=file,
                    late=sighting.late or after,
                    submitted=sighting.submitted.isoformat() if sighting.submitted else None,
                    attempt=sighting.attempt,
                    parts=sighting.parts,
                    modified=modified.timestamp() if modified else None,
                    reason=tree.unopened.get(sighting.parts, ""),
                )
            )
    return handed_in


def _modified(tree: Tree, parts: Parts) -> datetime | None:
    """The time of the last change of a file, or of the link itself if it is a link."""
    with suppress(OSError, OverflowError, ValueError):
        path = tree.root.joinpath(*parts)
        while ".zip" in str(path.parent).lower() and not os.path.lexists(path):
            path = path.parent  # a file in a zip file has that one's time
        return datetime.fromtimestamp(path.lstat().st_mtime, UTC)
    return None
