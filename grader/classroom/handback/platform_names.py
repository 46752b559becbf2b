"""The names under which Canvas and Moodle accept a student's page, found from their downloads."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from grader.classroom.handback.recipients import Recipient, named
from grader.classroom.intake.class_folder import Student
from grader.classroom.intake.matching import word_key
from grader.classroom.intake.platform_layouts import prefix_in, upload_in

PAGE = "feedback.html"

# Canvas (instructure/canvas-lms, app/models/abstract_assignment.rb,
# `infer_comment_context_from_filename`) takes the first two numbers between underscores for the
# user and the file that was handed in, "anon" and what follows it where names are hidden, and looks
# at nothing else, but that a last part which begins with "link" makes it leave the file out. The
# file has to belong to what the student handed in last. So the end of the name is ours, not the
# student's. A group's page goes to the whole group.

# Moodle (moodle/moodle, mod/assign/feedback/file/importziplib.php) goes through the folders and the
# file of a path, takes apart what is between underscores, and needs a number in the second place,
# "assignsubmission" in the third and the plugin in the fourth; what follows is the name of the
# feedback file. It leaves out files that begin with "." or "~". The number is the participant's in
# this one assignment, so that each download is a zip of its own; a group's is for all members.

_PARTICIPANT = "Participant"
"""Moodle's name for a student without a name, in blind marking."""

_UNSAFE = re.compile(r'[\\/:*?"<>|]')


@dataclass(frozen=True, slots=True)
class Place:
    """Where a platform looks for a student's page.

    `download` is the folder that was downloaded, or "" if it is the graded folder itself. `owner`
    is the platform's number for the student, `name` is the name beside it, and `entry` is the name
    of the page. Among several, the one with the greatest `age` is the newest.
    """

    download: str
    owner: str
    name: str
    entry: str
    age: int = 0


def canvas_place(path: str) -> Place | None:
    """Where Canvas looks for the page of the student who handed in this file."""
    parts = tuple(path.split("/"))
    if (found := upload_in(parts)) is None:
        return None
    depth, name = found
    begins = _clean(name[0][: name.start("file")], "")
    return Place(
        "/".join(parts[:depth]),
        name["user"],
        name["name"] or "",
        f"{begins}{PAGE}",
        int(name["attachment"]),
    )


def moodle_place(path: str) -> Place | None:
    """Where Moodle looks for the page; None where its name has no number."""
    parts = tuple(path.split("/"))
    if (found := prefix_in(parts)) is None or not found[1]["number"]:
        return None
    depth, name = found
    # Moodle writes a space for an underscore, and so counts on there being none.
    who = _clean(name["name"].replace("_", " "), " ").lstrip(".~ ") or "student"
    begins = f"{who}_{name['number']}_assignsubmission_{name['plugin']}"
    tail = name[0][name.end("plugin") :]
    is_folder = depth < len(parts) - 1 and tail in ("", "_")
    entry = f"{begins}{tail}/{PAGE}" if is_folder else f"{begins}_{PAGE}"
    return Place("/".join(parts[:depth]), name["number"], name["name"], entry)


def _clean(name: str, instead: str) -> str:
    seen = (each if each.isprintable() else instead for each in name)
    return _UNSAFE.sub(lambda _: instead, "".join(seen))


def entries(
    people: Iterable[Recipient], place_of: Callable[[str], Place | None], platform: str
) -> tuple[Mapping[str, Mapping[str, Recipient]], Iterator[str]]:
    """A page for each student in each download with a file of theirs, and why others have none.

    Pages are keyed by their download, then by their name. A page that could reach another student
    is not handed back.
    """
    without: dict[str, dict[str, Student]] = defaultdict(dict)
    claims: list[tuple[Recipient, Place]] = []
    for each in people:
        places = [place for path in each.files if (place := place_of(path))]
        claims += [(each, place) for place in _newest(places)]
        if not places:
            why = (
                "no file has a name of {}'s with a number"
                if each.files
                else "nothing was handed in"
            )
            without[why][each.student.id] = each.student
    claimed = Counter((place.download, place.owner) for _, place in claims)
    numbers = Counter((place.download, each.student.id) for each, place in claims)
    names = Counter((place.download, place.name) for _, place in claims)
    downloads: dict[str, dict[str, Recipient]] = defaultdict(dict)
    for each, place in sorted(claims, key=lambda claim: claim[1].download):
        if claimed[place.download, place.owner] > 1:
            why = "one submission is several students', and a page would reach all of them"
        elif numbers[place.download, each.student.id] > 1:
            why = "files have several numbers of {}'s, and only one can be the student's"
        # In blind marking, all students have the same name.
        elif names[place.download, place.name] == 1 and _another(place.name, each.student.name):
            why = "the submission has another name: if it is a group's, {} gives the page to all"
        else:
            downloads[place.download][place.entry] = each
            continue
        without[why][each.student.id] = each.student
    return downloads, _sentences(without, platform)


def _newest(places: Iterable[Place]) -> Iterable[Place]:
    """The newest file for each download and number."""
    in_order = sorted(places, key=lambda place: (place.age, place.entry))
    return {(place.download, place.owner): place for place in in_order}.values()


def _another(name: str, student: str) -> bool:
    """True if two names, in whatever order of their words, belong to different people."""
    one, other = sorted(word_key(name)), sorted(word_key(student))
    return bool(name and student and name != _PARTICIPANT and one != other)


def _sentences(without: Mapping[str, Mapping[str, Student]], platform: str) -> Iterator[str]:
    for why, students in without.items():
        yield (
            f"No page for {named(students.values())}: {why.format(platform)}. `--for folder` "
            "has theirs."
        )
