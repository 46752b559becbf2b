"""Moodle's "Download all submissions": a folder, or a prefix, for each student."""

# moodle/moodle, mod/assign/classes/downloader.php: name "_" number "_assignsubmission_" plugin,
# then (since 3.1) a folder, before and as an option a "_" and the file's name; up to 4.0 the
# folder's name ends in "_". The number is the participant's, another one in each assignment; in
# blind marking the name is the word "Participant" in the teacher's language; a team's name and
# number stand for its members. Nothing tells when a file was handed in.

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from grader.intake.file_names import file_sighting
from grader.intake.sighting import Reading, Sighting, Submitter, attempt_of, spelled
from grader.intake.walk import Found, Tree

MOODLE = "Moodle download"

_PREFIX = re.compile(
    r"(?P<name>.+?)(?:_(?P<number>\d+))?_assignsubmission_(?P<plugin>[a-z]+)(?:_.*)?", re.DOTALL
)


@dataclass(frozen=True, slots=True)
class _Prefix:
    """What stands before a student's files; `download` is the folder it was found in."""

    download: tuple[str, ...]
    name: str
    number: str


def moodle_tops(tree: Tree) -> set[str]:
    """The entries at the top that are Moodle's, or hold a download of it."""
    paths = [*_paths(tree.candidates), *_paths(tree.others), *tree.folders]
    return {parts[0] for parts in paths if _prefix(parts)}


def read_moodle(tree: Tree) -> Reading:
    """The folder as Moodle's prefixes tell; what has none is read by file names."""
    prefixes = {
        parts: prefix
        for parts in [*_paths(tree.candidates), *_paths(tree.others), *tree.folders]
        if (prefix := _prefix(parts))
    }
    submitters = _submitters(set(prefixes.values()))
    sightings = tuple(
        Sighting(found, (submitters[prefixes[found.parts]],), attempt=attempt_of(found.name))
        if found.parts in prefixes
        else file_sighting(found)
        for found in tree.candidates
    )
    handed_in = {submitter.id for sighting in sightings for submitter in sighting.submitters}
    everyone = {submitter.id: submitter for submitter in submitters.values()}
    return Reading(
        MOODLE,
        sightings,
        tuple(everyone[user] for user in sorted(everyone) if user not in handed_in),
        tuple(_notices(prefixes.values())),
    )


def _paths(files: Iterable[Found]) -> Iterable[tuple[str, ...]]:
    return (found.parts for found in files)


def _prefix(parts: tuple[str, ...]) -> _Prefix | None:
    # The outermost one counts: what lies inside, a student may have named.
    for depth, part in enumerate(parts):
        if match := _PREFIX.fullmatch(spelled(part)):
            return _Prefix(parts[:depth], match["name"], match["number"] or "")
    return None


def _submitters(prefixes: set[_Prefix]) -> Mapping[_Prefix, Submitter]:
    """Who is meant by each.

    In one download the number tells people apart. In several a student has several, so that the
    name has to do it, unless two in one download share theirs.
    """
    several = len({prefix.download for prefix in prefixes}) > 1
    shared = _shared_names(prefixes)
    blind = _blind(prefixes)
    found = {}
    for prefix in prefixes:
        name = "" if prefix.name in blind else prefix.name
        if several and name and name not in shared:
            user = name
        elif several and prefix.number:
            user = f"{prefix.name} {prefix.number}"
        else:
            user = prefix.number or prefix.name
        found[prefix] = Submitter(user, name=name, participant=prefix.number)
    return found


def _shared_names(prefixes: set[_Prefix]) -> set[str]:
    numbers = defaultdict(set)
    for prefix in prefixes:
        numbers[prefix.download, prefix.name].add(prefix.number)
    return {name for (_, name), found in numbers.items() if len(found) > 1}


def _blind(prefixes: set[_Prefix]) -> set[str]:
    """The words that stand for all the names of a download."""
    names = defaultdict(list)
    for prefix in prefixes:
        names[prefix.download].append(prefix.name)
    same = {found[0] for found in names.values() if len(found) > 1 and len(set(found)) == 1}
    return same | {name for found in names.values() for name in found if name == "Participant"}


def _notices(prefixes: Iterable[_Prefix]) -> Iterable[str]:
    found = set(prefixes)
    several = len({prefix.download for prefix in found}) > 1
    if several and _blind(found):
        yield (
            "Several downloads with blind marking: Moodle numbers the participants of each "
            "assignment anew, so that one student is several rows here."
        )
    elif several and (shared := sorted(_shared_names(found) - _blind(found))):
        yield (
            f"Several students are called {', '.join(map(repr, shared))}, and Moodle numbers the "
            "participants of each assignment anew: each number is a row of its own."
        )
