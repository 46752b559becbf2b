"""Platforms whose file names tell everything, with a row of a table for each."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from datetime import datetime

from grader.classroom.intake.plain_layouts import sighted, stamps_in
from grader.classroom.intake.sighting import (
    Sighting,
    Sightings,
    Submitter,
    attempt_of,
    common_beginning,
    spelled,
)
from grader.classroom.intake.times import TIMESTAMP, digits_as_time, time_in_words
from grader.classroom.intake.walk import Parts, Tree, stem
from grader.classroom.notices import Note, Notice

CANVAS = "Canvas download"
MOODLE = "Moodle download"

# instructure/canvas-lms, lib/content_zipper.rb: [name, "LATE" if late, user or anon_...] joined by
# "_", then "_" attachment "_" the file's own name; the name is the sortable one in lower case with
# everything but letters, digits and underscores left out ("Lovelace, Ada": lovelaceada).

_NAME = r"(?:(?P<name>\S+?)_)??"
_USER = r"(?P<late>LATE_)?(?P<user>anon_[0-9A-Za-z]+|[1-9]\d*)"
_FILE = r"_(?P<attachment>[1-9]\d*)_(?P<file>.+)"
_UPLOAD = re.compile(f"{_NAME}{_USER}{_FILE}", re.IGNORECASE | re.DOTALL)
_BEHIND_NAME = re.compile(f"{_USER}{_FILE}", re.IGNORECASE | re.DOTALL)
_ENTRY = re.compile(rf"{_NAME}{_USER}_(?:text|link)\.html", re.IGNORECASE)
"""A typed text or an address, instead of a file."""
_SENT_AGAIN = re.compile(r"-(\d{1,3})\Z")


def canvas_tops(tree: Tree) -> set[str]:
    """The entries at the top that are Canvas's, or contain a download from it."""
    uploads = {parts: found[1] for parts in tree.candidates if (found := upload_in(parts))}
    names = defaultdict(set)
    for upload in uploads.values():
        names[upload["user"]].add(upload["name"])
    # "ada_2026_11_backprop", "bob_2026_11_backprop": a date, as a user has one name
    return {
        parts[0]
        for parts, upload in uploads.items()
        if len(names[upload["user"]]) == 1
        and (upload["name"] or "") == (upload["name"] or "").lower()
    }


def read_canvas(tree: Tree) -> Sightings:
    """Read the folder by Canvas's names; other files are read by their own names."""
    uploads = {}
    for parts in (*tree.candidates, *tree.others):
        if upload := upload_in(parts):
            uploads[parts] = upload[1], [*_later_in(upload[1])]
    certain = [first for first, later in uploads.values() if not later]
    # Canvas counts all that is handed in: the 1 of 1_softmax.ipynb is far too small. It counts
    # users as well, so 20261120 is not a user's where the others have five digits.
    least = min((int(first["attachment"]) for first in certain), default=0) // 10
    longest = max((len(first["user"]) for first in certain), default=99) + 1

    def sighting(parts: Parts) -> Sighting | None:
        if entry := _ENTRY.fullmatch(spelled(parts[-1])):
            return _canvas_sighting(parts, entry, entry["name"])
        if parts not in uploads:
            return None
        first, later = uploads[parts]
        instead = [
            _canvas_sighting(parts, other, other.string[: other.start() - 1])
            for other in later
            if int(other["attachment"]) >= least and len(other["user"]) <= longest
        ]
        return replace(_canvas_sighting(parts, first, first["name"]), instead=tuple(instead))

    return sighted(CANVAS, tree, sighting)


def _later_in(first: re.Match[str]) -> Iterator[re.Match[str]]:
    """The readings in which the user's number comes later, since a name may contain numbers."""
    text, end = first.string, first.end("user")
    for sign in re.finditer("_", text):
        upload = _BEHIND_NAME.fullmatch(text, sign.end())
        if upload and upload.start("user") > end and not re.search(r"\s", text[: sign.start()]):
            yield upload
            end = upload.end("user")


def _canvas_sighting(parts: Parts, found: re.Match[str], name: str | None) -> Sighting:
    own = found.groupdict().get("file", "")
    again = _SENT_AGAIN.search(stem(own))
    who = Submitter(found["user"], name=name or "", canvas=found["user"])
    attempt = int(again[1]) if again else attempt_of(own)
    return Sighting(parts, (who,), late=bool(found["late"]), attempt=attempt)


def upload_in(parts: Parts) -> tuple[int, re.Match[str]] | None:
    """Find Canvas's own name in a path: its depth in folders, and its parts."""
    # The outermost name and its first numbers count, because the student writes what follows.
    return _outermost(_UPLOAD, parts)


def _outermost(pattern: re.Pattern[str], parts: Parts) -> tuple[int, re.Match[str]] | None:
    for depth, part in enumerate(parts):
        if match := pattern.fullmatch(spelled(part)):
            return depth, match
    return None


# moodle/moodle, mod/assign/classes/downloader.php: name "_" number "_assignsubmission_" plugin,
# then (since 3.1) a folder, before and as an option a "_" and the file's name; up to 4.0 the
# folder's name ends in "_". The number is the participant's, another one in each assignment; in
# blind marking the name is the word "Participant" in the teacher's language; a team's name and
# number stand for its members. Nothing tells when a file was handed in.

_PREFIX = re.compile(
    r"(?P<name>.+?)(?:_(?P<number>\d+))?_assignsubmission_(?P<plugin>[a-z]+)(?:_.*)?", re.DOTALL
)
_SIGN = re.compile(r"_assignsubmission_[a-z]+(?=_|\Z)")
_BEFORE_SIGN = re.compile(r"(?P<name>.+?)(?:_(?P<number>\d+))?", re.DOTALL)


def prefix_in(parts: Parts) -> tuple[int, re.Match[str]] | None:
    """Find Moodle's own name in a path: its depth in folders, and its parts."""
    # The outermost one counts, because a student may have named what is inside.
    return _outermost(_PREFIX, parts)


@dataclass(frozen=True, slots=True)
class _Owner:
    """The owner whom a name on a path mentions; `download` is the folder that contains it."""

    download: Parts
    name: str
    number: str


def moodle_tops(tree: Tree) -> set[str]:
    """The entries at the top that are Moodle's, or contain a download from it."""
    return {parts[0] for parts in _prefixes(tree)}


def is_one_download(tree: Tree) -> bool:
    """True if all files with Moodle's prefixes belong to one assignment."""
    return len({prefix.download for prefix in _prefixes(tree).values()}) == 1


def read_moodle(tree: Tree) -> Sightings:
    """Read the folder by Moodle's prefixes; files without one are read by their own names.

    In a single download, the number tells people apart. In several downloads, a student has several
    numbers, so the name decides, unless two students of one download share theirs.
    """
    prefixes = _prefixes(tree)
    found = dict.fromkeys(prefixes.values())
    several = len({prefix.download for prefix in found}) > 1
    shared, blind = _shared_names(found), _blind(found)

    def submitter(prefix: _Owner) -> Submitter:
        name = "" if prefix.name in blind else prefix.name
        if several and name and name not in shared:
            user = name
        elif several and prefix.number:
            user = f"{prefix.name} {prefix.number}"
        else:
            user = prefix.number or prefix.name
        return Submitter(user, name=name, participant=prefix.number)

    def sighting(parts: Parts) -> Sighting | None:
        if parts not in prefixes:
            return None
        first, *later = (
            Sighting(parts, (submitter(prefix),), attempt=attempt_of(parts[-1]))
            for prefix in (prefixes[parts], *_later_prefixes(parts))
        )
        return replace(first, instead=tuple(later))

    seen = sighted(MOODLE, tree, sighting)
    if several and blind:
        seen.notices.append(Notice("blind"))
    elif several and shared:
        names = ", ".join(map(repr, sorted(shared)))
        seen.notices.append(Notice("same-name", names=names))
    known = {who.id for file in seen.files for who in file.submitters}
    without_files = {who.id: who for who in map(submitter, found) if who.id not in known}
    return replace(seen, people=[*without_files.values()])


def _prefixes(tree: Tree) -> dict[Parts, _Owner]:
    found = {}
    for parts in (*tree.candidates, *tree.others, *tree.folders):
        if prefix := prefix_in(parts):
            depth, match = prefix
            found[parts] = _Owner(parts[:depth], match["name"], match["number"] or "")
    return found


def _later_prefixes(parts: Parts) -> Iterator[_Owner]:
    """The readings in which the separator comes later, since names may contain it."""
    if prefix := prefix_in(parts):
        depth, first = prefix
        for sign in _SIGN.finditer(first.string, first.end("plugin")):
            if before := _BEFORE_SIGN.fullmatch(first.string, endpos=sign.start()):
                yield _Owner(parts[:depth], before["name"], before["number"] or "")


def _shared_names(owners: Collection[_Owner]) -> set[str]:
    numbers = defaultdict(set)
    for owner in owners:
        numbers[owner.download, owner.name].add(owner.number)
    return {name for (_, name), found in numbers.items() if len(found) > 1}


def _blind(prefixes: Collection[_Owner]) -> set[str]:
    """The words that replace all names in a download."""
    names = defaultdict(list)
    for prefix in prefixes:
        names[prefix.download].append(prefix.name)
    same = {found[0] for found in names.values() if len(found) > 1 and len(set(found)) == 1}
    return same | {name for found in names.values() for name in found if name == "Participant"}


@dataclass(frozen=True, slots=True)
class Platform:
    """How a platform names the files that an instructor downloads.

    `pattern` matches a path with forward slashes. Its group `id` is the id of the student, and
    `number` tells two students with the same id apart. `name` and `login` may be in a class list.
    `time` is the time of submission, in the form that `read` takes. If all ids have a common
    beginning up to the sign `cut`, it is the title of the assignment.
    """

    title: str
    pattern: re.Pattern[str]
    read: Callable[[str], datetime | None] = digits_as_time
    cut: str = ""


# Each pattern begins with the names and ends with the files, which students name, so that a student
# cannot choose where it is cut. A login may contain underscores. Therefore ILIAS's login is found
# by the number after it, and Blackboard's by the common beginning of all names in a download.

PLATFORMS = (
    Platform(
        "Brightspace download",
        re.compile(
            r"(?:[^/]*/)*?(?P<number>\d+-\d+) - (?P<id>(?P<name>[^/]+?)) - "
            r"(?P<time>[^/]*?\d{4} \d{1,4}(?: [AP]M)?)(?:/.*| - [^/]*)",
            re.DOTALL,
        ),
        time_in_words,
    ),
    Platform(
        "Sakai download",
        re.compile(
            r"(?:[^/]*/)*?(?P<name>[^/]*)\((?P<id>(?P<login>[^/()]+))\)/"
            r"Submission attachment\(s\)/.*",
            re.DOTALL,
        ),
    ),
    Platform(
        "Blackboard download",
        re.compile(
            r"(?:[^/]*/)*?(?P<id>[^/]+?)_attempt_(?P<time>\d{4}(?:-\d\d){5})(?:[_/].*|\.txt)",
            re.DOTALL,
        ),
        cut="_",
    ),
    Platform(
        "ILIAS download",
        re.compile(
            r"(?:[^/]*/)*?(?P<id>(?P<name>[^\W\d_][^/_\d]*_[^\W\d_][^/\d_]*)_[^/]+)"
            r"_(?P<number>\d{2,})/.*",
            re.DOTALL,
        ),
    ),
)


def tops_of(platform: Platform, tree: Tree) -> set[str]:
    """The entries at the top that follow the platform's pattern, or contain one that does."""
    pattern = platform.pattern
    return {parts[0] for parts in tree.candidates if pattern.fullmatch("/".join(parts))}


def read_platform(platform: Platform, tree: Tree) -> Sightings:
    """Read the folder by the platform's pattern; other files are read by their own names."""
    found = {
        parts: match
        for parts in (*tree.candidates, *tree.others)
        if (match := platform.pattern.fullmatch("/".join(map(spelled, parts))))
    }
    owners = {parts: _owner(parts, match) for parts, match in found.items()}
    shared = _shared_names(owners.values())
    begins = common_beginning((owner.name for owner in owners.values()), platform.cut)
    stamps = stamps_in(tree)

    def sighting(parts: Parts) -> Sighting | None:
        if parts not in found:
            return None
        match, owner = found[parts].groupdict(), owners[parts]
        user = owner.name.removeprefix(begins)
        called = f"{user} {owner.number}" if owner.name in shared else user
        keys = (match.get("login") or user,)
        who = Submitter(called, match.get("name", ""), keys=keys, folder=True)
        above = ((*parts[:depth], TIMESTAMP) for depth in range(len(parts) - 1, 0, -1))
        time = match.get("time") or next((stamps[stamp] for stamp in above if stamp in stamps), "")
        local = platform.read(time)
        return Sighting(parts, (who,), local and local.astimezone(), attempt=attempt_of(parts[-1]))

    seen = sighted(platform.title, tree, sighting, used=stamps)
    if timed := sum(file.submitted is not None for file in seen.files):
        seen.notices.append(Note("local-times", files=timed))
    return seen


def _owner(parts: Parts, match: re.Match[str]) -> _Owner:
    depth = match.string.count("/", 0, match.start("id"))
    return _Owner(parts[:depth], match["id"], match.groupdict().get("number", ""))
