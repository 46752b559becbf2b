"""A folder of submissions and a class list, read into a class."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType

from grader.classroom.intake.about_folder import SHOWN, about_time, left_out, named, spelled_twice
from grader.classroom.intake.class_folder import (
    ClassFolder,
    HandedIn,
    Remark,
    Student,
    UnreadableClass,
    explained,
)
from grader.classroom.intake.file_names import FOLDERS, read_file_names
from grader.classroom.intake.gradescope_export import gradescope_tops, read_gradescope
from grader.classroom.intake.lms_downloads import (
    CANVAS,
    MOODLE,
    canvas_tops,
    is_one_download,
    moodle_tops,
    prefix_in,
    read_canvas,
    read_moodle,
)
from grader.classroom.intake.matching import Match, Matcher
from grader.classroom.intake.moodle_times import about_times, times_in
from grader.classroom.intake.nbgrader_tree import base_of, read_nbgrader
from grader.classroom.intake.readings import choose_readings
from grader.classroom.intake.roster_file import ClassList, read_roster
from grader.classroom.intake.sighting import Sighting, Sightings, Submitter
from grader.classroom.intake.walk import Parts, Tree, as_text, walk
from grader.printable import counted, printable
from grader.program.course import Course
from grader.submission.notebook_file import shown

MOST_OTHERS = 5
"""Of the files of a student who handed in no notebook, so many are taken."""


def read_class(
    folder: Path,
    course: Course,
    roster: Path | None = None,
    due: datetime | None = None,
    roster_columns: Mapping[str, str] = MappingProxyType({}),
    *,
    file_times: bool = False,
) -> ClassFolder:
    """Who is in the class, and what each of them handed in.

    The layouts of Canvas, Moodle, Gradescope and nbgrader are recognised, a folder for each
    student, and plain files. Every student of the roster is there, with or without a file, and
    everyone of whom there is a file; every file that may be a submission is there once (once for
    each member of a group), whether or not it can be read; of a student who has none, the first of
    the other files, from a plain folder only where the roster says whose it is. No link is
    followed, no notebook or archive opened.

    Args:
        folder: the submissions.
        course: the one they belong to; files may have its notebooks' names.
        roster: the class list, a CSV file as Canvas, Moodle, nbgrader or Gradescope export it, or
            one id a line.
        due: later submissions are late; without a zone, in the zone of this machine.
        roster_columns: for roles such as "id", the name or the number of their column.
        file_times: True if a file was handed in when it was last changed, where nothing else tells.

    Raises:
        UnreadableClass: if there is no submission in it, or the class list cannot be read; the
            message is a sentence.
    """
    tree = _walk(folder, course)
    seen = _read_by_convention(tree)
    if not seen.files:
        raise UnreadableClass(_nothing_in(tree))
    classes = read_roster(roster, roster_columns) if roster is not None else None
    matcher = Matcher(classes) if classes else None
    seen = choose_readings(seen, matcher)
    sighted = (*seen.files, *seen.others)
    everyone = {who for file in sighted for who in file.submitters} | {*seen.people}
    # in an order that does not depend on the order of the files
    submitters = sorted(everyone, key=lambda who: (who.id, who.name, who.email))
    students, called, about_people = _identify(submitters, classes, matcher)
    listed = {student.id for student in classes.students} if classes else set[str]()
    # A plain folder may be anything's, such as data/, where no class list says that it is Ada's.
    instead = list(_instead(seen, called, listed if seen.convention == FOLDERS else None))
    # A worksheet speaks of one assignment.
    has_worksheet = seen.convention == MOODLE and is_one_download(tree)
    times, unclear = times_in(classes.roster) if classes and has_worksheet else ({}, {})
    timed = seen.convention != CANVAS  # Canvas gives all files the time of the download

    def submitted(file: Sighting) -> datetime | None:
        if times and prefix_in(file.parts) and (told := times.get(called[file.submitters[0]])):
            return told
        own = file_times and timed and not file.submitted
        return _modified(tree, file.parts) if own else file.submitted

    files = [replace(file, submitted=submitted(file)) for file in (*seen.files, *instead)]
    handed_in = _hand_in(files, called, due and due.astimezone(UTC), tree if timed else None)
    if classes and classes.tester:
        students = [student for student in students if student.id != classes.tester]
        left = [item for item in handed_in if item.student != classes.tester]
        if tried := len(handed_in) - len(left):
            said = f"Left out: {counted(tried, 'file')} of Canvas's Test Student."
            about_people.append(Remark(said))
        handed_in = left
    notices = [
        *seen.notices,
        *spelled_twice(tree),
        *left_out(tree, {*seen.used, *(file.parts for file in instead)}),
        *(classes.notices if classes else ()),
        *about_people,
        *(about_times(times, unclear, students) if due is not None else ()),
        *about_time(due, handed_in, seen.convention, told=unclear),
    ]
    return ClassFolder(
        root=folder,
        convention=seen.convention,
        students=tuple(sorted(students, key=lambda student: student.id)),
        handed_in=tuple(sorted(handed_in, key=lambda item: (item.student, item.id))),
        notices=tuple(notices),
        roster=classes.roster if classes else None,
        doubt=_doubt(handed_in, classes) if classes else "",
    )


def _doubt(handed_in: Iterable[HandedIn], classes: ClassList) -> str:
    """Why the class list may be another class's, or read by the wrong columns."""
    present = {item.student for item in handed_in}
    listed_ = present & {student.id for student in classes.students}
    if 2 * len(listed_) >= len(present):
        return ""
    return (
        f"Of {len(present):,} who handed something in, {len(listed_):,} are in the class list: is "
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


def _read_by_convention(tree: Tree) -> Sightings:
    """The folder, read by the convention that more than half of what lies at its top follows.

    More than half, since a student may call files as some system would: that must not move
    another student's work, nor their own under another's name.
    """
    tops = tree.tops
    for recognise, read in (
        (gradescope_tops, read_gradescope),
        (moodle_tops, read_moodle),
        (canvas_tops, read_canvas),
    ):
        if 2 * len(recognise(tree) & tops) > len(tops):
            return read(tree)
    if (base := base_of(tree)) is not None:
        return read_nbgrader(tree, base)
    return read_file_names(tree)


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


def _identify(
    submitters: Sequence[Submitter], classes: ClassList | None, matcher: Matcher | None
) -> tuple[list[Student], dict[Submitter, str], list[str]]:
    """The students, what each submitter is called among them, and what was not clear."""
    students = {student.id: student for student in classes.students} if classes else {}
    matches = _match(submitters, matcher) if matcher else {}
    called: dict[Submitter, str] = {}
    made_up: dict[str, str] = {}
    strangers = []
    for who in submitters:
        if found := matches.get(who, Match()).student:
            called[who] = found
            continue
        if who.id not in made_up:
            user = who.id
            while user in students:
                user = f"{user}~2"  # somebody else has the id, such as another system's number
            made_up[who.id] = user
            students[user] = Student(user, who.name, who.email)
            if who not in matches or not matches[who].among:  # of those it is said below
                strangers.append(who)
        called[who] = made_up[who.id]
    notices = list(_unclear(matches))
    if classes and strangers:
        notices.append(
            "Not in the class list, but with files or a folder: "
            f"{named([who.name or who.id for who in strangers])}."
        )
    return list(students.values()), called, notices


def _match(submitters: Iterable[Submitter], matcher: Matcher) -> dict[Submitter, Match]:
    matches = {who: matcher.match(who) for who in submitters}
    same = defaultdict(set)
    for who, match in matches.items():
        if match.by_name and who.name:
            same[match.student].add(who.id)
    # A system has given them different numbers, so they are two people, and one of them is not in
    # the list: nobody can say which.
    shared = {student for student, ids in same.items() if len(ids) > 1}
    return {
        who: Match(among=(match.student,)) if match.by_name and match.student in shared else match
        for who, match in matches.items()
    }


def _unclear(matches: dict[Submitter, Match]) -> Iterator[str]:
    unclear = [(who, match) for who, match in matches.items() if match.among]
    for who, match in unclear[:SHOWN]:
        yield (
            f"Whether {printable(who.name or who.id)!r} is {named(match.among, 'or')} of the "
            "class list cannot be told: each has a row."
        )
    if len(unclear) > SHOWN:
        yield f"Of {len(unclear) - SHOWN} more it cannot be told who of the class list they are."


def _instead(
    seen: Sightings, called: Mapping[Submitter, str], among: Collection[str] | None
) -> Iterator[Sighting]:
    """What those handed in who handed in no notebook, so that it is not said that nothing came.

    Of a student with very many such files the first are enough. `among` are the only students who
    are looked at, None for all.
    """
    have: Counter[str] = Counter()
    for file in seen.files:
        have.update(dict.fromkeys((called[who] for who in file.submitters), MOST_OTHERS))
    for file in seen.others:
        without = tuple(
            who
            for who in file.submitters
            if have[called[who]] < MOST_OTHERS and (among is None or called[who] in among)
        )
        if without and file.parts not in seen.used:
            have.update({called[who] for who in without})
            yield replace(file, submitters=without)


def _hand_in(
    sightings: Sequence[Sighting],
    called: dict[Submitter, str],
    due: datetime | None,
    timed: Tree | None,
) -> list[HandedIn]:
    """Each file once for each student; `timed` is the tree if its files have times of their own."""
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
            modified = _modified(timed, sighting.parts) if timed and several else None
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
                )
            )
    return handed_in


def _modified(tree: Tree, parts: Parts) -> datetime | None:
    """When the file was last changed, by its own folder; of a link, the link."""
    with suppress(OSError, OverflowError, ValueError):
        return datetime.fromtimestamp(tree.root.joinpath(*parts).lstat().st_mtime, UTC)
    return None
