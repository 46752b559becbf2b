"""Canvas's and Moodle's downloads of all submissions, which tell everything by names."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace

from grader.classroom.intake.file_names import file_sighting
from grader.classroom.intake.sighting import Sighting, Sightings, Submitter, attempt_of, spelled
from grader.classroom.intake.walk import Parts, Tree, stem

# instructure/canvas-lms, lib/content_zipper.rb: [name, "LATE" if late, user or anon_...] joined by
# "_", then "_" attachment "_" the file's own name; the name is the sortable one in lower case with
# everything but letters, digits and underscores left out ("Lovelace, Ada": lovelaceada).

CANVAS = "Canvas download"

_NAME = r"(?:(?P<name>\S+?)_)??"
_USER = r"(?P<late>LATE_)?(?P<user>anon_[0-9A-Za-z]+|[1-9]\d*)"
_FILE = r"_(?P<attachment>[1-9]\d*)_(?P<file>.+)"
_UPLOAD = re.compile(f"{_NAME}{_USER}{_FILE}", re.IGNORECASE | re.DOTALL)
_BEHIND_NAME = re.compile(f"{_USER}{_FILE}", re.IGNORECASE | re.DOTALL)
_ENTRY = re.compile(rf"{_NAME}{_USER}_(?:text|link)\.html", re.IGNORECASE)
"""A text typed in, or an address, instead of a file."""
_SENT_AGAIN = re.compile(r"-(\d{1,3})\Z")


def canvas_tops(tree: Tree) -> set[str]:
    """The entries at the top that are Canvas's, or hold a download of it."""
    uploads = {parts: found[1] for parts in tree.candidates if (found := upload_in(parts))}
    names = defaultdict(set)
    for upload in uploads.values():
        names[upload["user"]].add(upload["name"])
    # "ada_2026_11_backprop", "bob_2026_11_backprop": a date, as a user has one name
    return {
        parts[0]
        for parts, upload in uploads.items()
        if len(names[upload["user"]]) == 1 and _name(upload) == _name(upload).lower()
    }


def read_canvas(tree: Tree) -> Sightings:
    """The folder as Canvas's names tell; what is not named so is read by file names."""
    uploads = {}
    for parts in (*tree.candidates, *tree.others):
        if upload := upload_in(parts):
            uploads[parts] = upload[1], [*_later_in(upload[1])]
    certain = [int(first["attachment"]) for first, later in uploads.values() if not later]
    # Canvas counts all that is handed in: the 1 of 1_softmax.ipynb is no number of these weeks.
    least = min(certain, default=0) // 10

    def sighting(parts: Parts) -> Sighting | None:
        if entry := _ENTRY.fullmatch(spelled(parts[-1])):
            who = _submitter(entry["user"], entry["name"])
            return Sighting(parts, (who,), late=bool(entry["late"]))
        if parts not in uploads:
            return None
        first, later = uploads[parts]
        instead = [
            _sighting(parts, other, other.string[: other.start() - 1])
            for other in later
            if int(other["attachment"]) >= least
        ]
        return replace(_sighting(parts, first, first["name"]), instead=tuple(instead))

    files = [sighting(parts) or file_sighting(parts, tree) for parts in tree.candidates]
    others = [found for parts in tree.others if (found := sighting(parts))]
    return Sightings(CANVAS, files, others=others)


def _later_in(first: re.Match[str]) -> Iterator[re.Match[str]]:
    """The readings of a name in which the user's number comes later: a name may hold numbers."""
    text, end = first.string, first.end("user")
    for sign in re.finditer("_", text):
        upload = _BEHIND_NAME.fullmatch(text, sign.end())
        if upload and upload.start("user") > end and not re.search(r"\s", text[: sign.start()]):
            yield upload
            end = upload.end("user")


def _sighting(parts: Parts, upload: re.Match[str], name: str | None) -> Sighting:
    again = _SENT_AGAIN.search(stem(upload["file"]))
    return Sighting(
        parts,
        (_submitter(upload["user"], name),),
        late=bool(upload["late"]),
        attempt=int(again[1]) if again else attempt_of(upload["file"]),
    )


def upload_in(parts: Parts) -> tuple[int, re.Match[str]] | None:
    """Canvas's own name in a path: how many folders deep it stands, and its parts."""
    # The outermost name counts, and in it the first numbers: what follows is the student's text.
    return _outermost(_UPLOAD, parts)


def _submitter(user: str, name: str | None) -> Submitter:
    return Submitter(user, name=name or "", canvas=user)


def _name(found: re.Match[str]) -> str:
    return found["name"] or ""


# moodle/moodle, mod/assign/classes/downloader.php: name "_" number "_assignsubmission_" plugin,
# then (since 3.1) a folder, before and as an option a "_" and the file's name; up to 4.0 the
# folder's name ends in "_". The number is the participant's, another one in each assignment; in
# blind marking the name is the word "Participant" in the teacher's language; a team's name and
# number stand for its members. Nothing tells when a file was handed in.

MOODLE = "Moodle download"

_PREFIX = re.compile(
    r"(?P<name>.+?)(?:_(?P<number>\d+))?_assignsubmission_(?P<plugin>[a-z]+)(?:_.*)?", re.DOTALL
)
_SIGN = re.compile(r"_assignsubmission_[a-z]+(?=_|\Z)")
_BEFORE_SIGN = re.compile(r"(?P<name>.+?)(?:_(?P<number>\d+))?", re.DOTALL)


@dataclass(frozen=True, slots=True)
class _Prefix:
    """What stands before a student's files; `download` is the folder it was found in."""

    download: Parts
    name: str
    number: str


def moodle_tops(tree: Tree) -> set[str]:
    """The entries at the top that are Moodle's, or hold a download of it."""
    return {parts[0] for parts in _prefixes(tree)}


def is_one_download(tree: Tree) -> bool:
    """True if all that Moodle's prefixes stand before is of one assignment."""
    return len({prefix.download for prefix in _prefixes(tree).values()}) == 1


def read_moodle(tree: Tree) -> Sightings:
    """The folder as Moodle's prefixes tell; what has none is read by file names.

    In one download the number tells people apart. In several a student has several, so that the
    name has to do it, unless two in one download share theirs.
    """
    prefixes = _prefixes(tree)
    found = dict.fromkeys(prefixes.values())
    several = len({prefix.download for prefix in found}) > 1
    shared, blind = _shared_names(found), _blind(found)

    def submitter(prefix: _Prefix) -> Submitter:
        name = "" if prefix.name in blind else prefix.name
        if several and name and name not in shared:
            user = name
        elif several and prefix.number:
            user = f"{prefix.name} {prefix.number}"
        else:
            user = prefix.number or prefix.name
        return Submitter(user, name=name, participant=prefix.number)

    def sighting(parts: Parts, attempt: int = 0) -> Sighting:
        first, *later = (
            Sighting(parts, (submitter(prefix),), attempt=attempt)
            for prefix in (prefixes[parts], *_later_prefixes(parts))
        )
        return replace(first, instead=tuple(later))

    notices = []
    if several and blind:
        notices.append(
            "Several downloads with blind marking: Moodle numbers the participants of each "
            "assignment anew, so that one student is several rows here."
        )
    elif several and shared:
        notices.append(
            f"Several students are called {', '.join(map(repr, sorted(shared)))}, and Moodle "
            "numbers the participants of each assignment anew: each number is a row of its own."
        )
    files = [
        sighting(parts, attempt_of(parts[-1])) if parts in prefixes else file_sighting(parts, tree)
        for parts in tree.candidates
    ]
    others = [sighting(parts) for parts in tree.others if parts in prefixes]
    known = {who.id for file in files for who in file.submitters}
    without_files = {who.id: who for who in map(submitter, found) if who.id not in known}
    return Sightings(MOODLE, files, list(without_files.values()), notices, others=others)


def _prefixes(tree: Tree) -> dict[Parts, _Prefix]:
    found = {}
    for parts in (*tree.candidates, *tree.others, *tree.folders):
        if prefix := prefix_in(parts):
            depth, match = prefix
            found[parts] = _Prefix(parts[:depth], match["name"], match["number"] or "")
    return found


def _later_prefixes(parts: Parts) -> Iterator[_Prefix]:
    """The readings in which the sign comes later: a name may hold it, and so may a file's."""
    if prefix := prefix_in(parts):
        depth, first = prefix
        for sign in _SIGN.finditer(first.string, first.end("plugin")):
            if before := _BEFORE_SIGN.fullmatch(first.string, endpos=sign.start()):
                yield _Prefix(parts[:depth], before["name"], before["number"] or "")


def prefix_in(parts: Parts) -> tuple[int, re.Match[str]] | None:
    """Moodle's own name in a path: how many folders deep it stands, and its parts."""
    # The outermost one counts: what lies inside, a student may have named.
    return _outermost(_PREFIX, parts)


def _outermost(pattern: re.Pattern[str], parts: Parts) -> tuple[int, re.Match[str]] | None:
    for depth, part in enumerate(parts):
        if match := pattern.fullmatch(spelled(part)):
            return depth, match
    return None


def _shared_names(prefixes: Collection[_Prefix]) -> set[str]:
    numbers = defaultdict(set)
    for prefix in prefixes:
        numbers[prefix.download, prefix.name].add(prefix.number)
    return {name for (_, name), found in numbers.items() if len(found) > 1}


def _blind(prefixes: Collection[_Prefix]) -> set[str]:
    """The words that stand for all the names of a download."""
    names = defaultdict(list)
    for prefix in prefixes:
        names[prefix.download].append(prefix.name)
    same = {found[0] for found in names.values() if len(found) > 1 and len(set(found)) == 1}
    return same | {name for found in names.values() for name in found if name == "Participant"}
