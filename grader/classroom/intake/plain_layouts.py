"""Layouts without a platform's names: a file or folder for each student, nbgrader, GitHub."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from functools import cache

from grader.classroom.intake.sighting import (
    Sighting,
    Sightings,
    Submitter,
    attempt_of,
    common_beginning,
    owner_of,
    spelled,
    words_in,
)
from grader.classroom.intake.times import TIMESTAMP, as_instant, names_its_zone, read_stamp
from grader.classroom.intake.walk import Parts, Tree, stem
from grader.classroom.notices import Note, Notice

FLAT = "one file a student"
FOLDERS = "one folder a student"
GITHUB = "GitHub Classroom"
NBGRADER = "nbgrader"

_COUNTER = re.compile(r"(?:\s*\((\d{1,3})\)|-(\d{1,2})|-Copy\d*)(?=[\s_.-]|\Z)", re.IGNORECASE)
"""What a browser, Canvas or JupyterLab appends to a name that is already taken."""
_BETWEEN = " \t_-.+,"

SUBMITTED = "submitted"
_SIBLINGS = {"autograded", "feedback", "gradebook.db", "nbgrader_config.py", "release", "source"}
"""The other folders of nbgrader's course, beside the submissions."""


@cache
def _notebook_name(notebooks: tuple[str, ...]) -> re.Pattern[str]:
    # Systems and people write spaces or hyphens instead of underscores, and omit the number.
    names = []
    for notebook in notebooks:
        number, *words = re.split("[_-]", notebook)
        if number.isdecimal() and words:
            names.append(rf"(?:{number}[\s_-]*)?" + r"[\s_-]*".join(words))
        else:
            names.append(r"[\s_-]*".join((number, *words)))
    return re.compile(rf"(?<![^\W_])(?:{'|'.join(names)})(?![^\W_])", re.IGNORECASE)


def sighted(
    layout: str,
    tree: Tree,
    sighting: Callable[[Parts], Sighting | None],
    people: Iterable[Submitter] = (),
    notices: Iterable[Notice] = (),
    used: Collection[Parts] = (),
) -> Sightings:
    """Read each path of the folder by `sighting`; other notebooks are read by their file names."""
    files = [sighting(parts) or file_sighting(parts, tree) for parts in tree.candidates]
    others = [seen for p in tree.others if p not in used and (seen := sighting(p))]
    return Sightings(layout, files, [*people], [*notices], frozenset(used), others)


def stamps_in(tree: Tree) -> dict[Parts, str]:
    """The contents of the files called timestamp.txt, by path."""
    stamps = (parts for parts in tree.others if parts[-1] == TIMESTAMP)
    return {parts: read_stamp(tree.root.joinpath(*parts)) for parts in stamps}


def read_file_names(tree: Tree, begins: str = "") -> Sightings:
    """Take the folder at the top as the student of a file, or else the beginning of its own name.

    If the folders at the top are assignments, the student is the folder inside. `begins` is the
    common beginning of all folders' names, before the student.
    """
    above = None if begins else _assignments_above(tree)
    depth = 1 if above else 0
    folders = [parts for parts in tree.folders if len(parts) == depth + 1]
    with_files = {parts[0] for parts in tree.candidates if len(parts) > 1}
    notices = [above] if above else []
    if (
        not above
        and len(with_files) == len(folders) == 1
        and len(tree.candidates) > len(tree.notebooks)
    ):
        notices.append(Notice("one-folder", folder=repr(spelled(folders[0][0]))))
    layout = FOLDERS if folders else FLAT
    people = [owner_of(parts[depth].removeprefix(begins)) for parts in folders]

    def sighting(parts: Parts) -> Sighting:
        return replace(file_sighting(parts[depth:] or parts, tree, begins), parts=parts)

    seen = sighted(layout, tree, sighting, people, notices)
    # What lies beside the students' folders of an assignment is nobody's.
    others = [
        file
        for file in seen.others
        if file.parts[-1] != TIMESTAMP and (len(file.parts) > 2 or not above)
    ]
    return replace(seen, others=others, sure=False)


def _assignments_above(tree: Tree) -> Notice | None:
    """The notice if the folders at the top are assignments that contain the students' folders.

    This is the case if most files are two folders deep, under names that recur in several folders
    at the top. `ada/hw1/` and `ada/hw2/` look the same, but the files of an assignment usually
    belong to one notebook. If this does not decide, there are fewer assignments than students.
    """
    deep = [parts for parts in tree.candidates if len(parts) > 2]
    tops, inside = defaultdict[str, Counter[str]](Counter), defaultdict[str, Counter[str]](Counter)
    for parts in deep:
        found = _notebook_name(tree.notebooks).search(spelled(parts[-1]))
        name = {re.sub(r"[\W\d_]", "", found[0].lower())} if found else set[str]()
        tops[parts[0]].update(name)
        inside[parts[1]].update(name)

    def rank(folders: Mapping[str, Counter[str]]) -> tuple[int, int]:
        of_others = (each.total() - max(each.values(), default=0) for each in folders.values())
        return sum(of_others), len(folders)

    times = Counter(name for _, name in {parts[:2] for parts in deep})
    again = sorted(name for name in times if times[name] > 1)
    if not again or 2 * len(deep) <= len(tree.candidates) or rank(tops) >= rank(inside):
        return None
    example = repr(spelled(stem(again[0])))
    return Notice("assignments", folders=[*map(spelled, tops)], example=example)


def file_sighting(parts: Parts, tree: Tree, begins: str = "") -> Sighting:
    """Read a file's path, if no platform's name helps."""
    first, attempt = parts[0], attempt_of(parts[-1])
    if len(parts) > 1 and not first.lower().endswith(".zip"):
        return Sighting(parts, (owner_of(first.removeprefix(begins)),), attempt=attempt)
    name = stem(first)
    if name == first and "." in name.lstrip("."):  # not a notebook
        name = name.rpartition(".")[0]
    who, marked = split_name(spelled(name), tree.notebooks)
    submitter = Submitter(who, keys=(who,), words=words_in(who))
    return Sighting(parts, (submitter,), attempt=marked if len(parts) == 1 else attempt)


def split_name(text: str, notebooks: tuple[str, ...]) -> tuple[str, int]:
    """Find the student and the number of the attempt in a file's stem.

    >>> split_name("ada_01_rms_norm (2)", ("01_rms_norm",))
    ('ada', 2)
    >>> split_name("01_rms_norm (2)", ("01_rms_norm",))
    ('01_rms_norm (2)', 0)
    """
    found = _notebook_name(notebooks).search(text) if notebooks else None
    if found is None:
        return text, 0
    before, after = text[: found.start()], text[found.end() :]
    attempt = 0
    while counter := _COUNTER.match(after):
        attempt = int(counter[1] or counter[2] or attempt)
        after = after[counter.end() :]
    if counter := re.search(r"\s*\((\d{1,3})\)\Z", after):
        attempt, after = int(counter[1]), after[: counter.start()]
    who = "_".join(part for part in (before.strip(_BETWEEN), after.strip(_BETWEEN)) if part)
    return (who, attempt) if who else (text, 0)


# GitHub Classroom: a clone for each student, called ASSIGNMENT-LOGIN.


def _assignment(tree: Tree) -> str:
    """The common beginning of all clones' names, up to a hyphen."""
    return common_beginning((parts[0] for parts in tree.folders if len(parts) == 1), "-")


def github_tops(tree: Tree) -> set[str]:
    """The clones at the top, if their names have a common beginning."""
    return {parts[0] for parts in tree.clones if len(parts) == 1} if _assignment(tree) else set()


def read_github(tree: Tree) -> Sightings:
    """Read the folders by the part of their names after the assignment."""
    return replace(read_file_names(tree, _assignment(tree)), layout=GITHUB)


# nbgrader: submitted/STUDENT/ASSIGNMENT/NOTEBOOK.ipynb, and beside it the time.


def nbgrader_tops(tree: Tree) -> set[str]:
    """All entries at the top, if this is nbgrader's course or its folder of submissions."""
    return set() if _base_of(tree) is None else tree.tops


def _base_of(tree: Tree) -> Parts | None:
    """The folder with the students' folders, or None if this is not nbgrader's course."""
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


def read_nbgrader(tree: Tree) -> Sightings:
    """Read the students' folders, and the times that nbgrader wrote beside the notebooks."""
    base = _base_of(tree) or ()
    depth = len(base)
    stamps = stamps_in(tree)
    times = {
        parts[:-1]: text
        for parts, text in stamps.items()
        if parts[:depth] == base and len(parts) == depth + 3
    }

    def is_inside(parts: Parts, deeper: int = 0) -> bool:
        return parts[:depth] == base and len(parts) > depth + deeper

    def sighting(parts: Parts) -> Sighting:
        if len(parts) == depth + 1:
            return replace(file_sighting(parts[depth:], tree), parts=parts)
        submitted = as_instant(times.get(parts[: depth + 2], ""))
        return Sighting(parts, (owner_of(parts[depth]),), submitted, attempt=attempt_of(parts[-1]))

    inside = [parts for parts in tree.candidates if is_inside(parts)]
    others = [parts for parts in tree.others if is_inside(parts, deeper=1)]
    people = [owner_of(p[depth]) for p in tree.folders if is_inside(p) and len(p) == depth + 1]
    own = replace(tree, candidates=inside, others=others)
    seen = sighted(NBGRADER, own, sighting, people, used=stamps)
    have = {file.submitters for file in seen.files}
    timed = [
        (file, times[file.parts[: depth + 2]])
        for file in (*seen.files, *(file for file in seen.others if file.submitters not in have))
        if file.parts[: depth + 2] in times
    ]
    if outside := len(tree.candidates) - len(inside):
        seen.notices.append(Note("outside", files=outside, folder=SUBMITTED))
    if unclear := sum(file.submitted is None for file, _ in timed):
        seen.notices.append(Notice("unread-stamp", files=unclear, stamp=TIMESTAMP))
    if guessed := sum(bool(file.submitted) and not names_its_zone(time) for file, time in timed):
        seen.notices.append(Notice("guessed-zone", files=guessed, stamp=TIMESTAMP))
    return seen
