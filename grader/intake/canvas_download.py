"""Canvas's "Download Submissions": everything stands in the names of the files."""

# instructure/canvas-lms, lib/content_zipper.rb: [name, "LATE" if late, user or anon_...] joined by
# "_", then "_" attachment "_" the file's own name; the name is the sortable one in lower case with
# everything but letters, digits and underscores left out ("Lovelace, Ada": lovelaceada).

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from grader.intake.file_names import file_sighting
from grader.intake.sighting import Reading, Sighting, Submitter, attempt_of, spelled
from grader.intake.walk import Found, Tree, stem

CANVAS = "Canvas download"

_WHO = r"(?:(?P<name>\S+?)_)??(?P<late>LATE_)?(?P<user>anon_[0-9A-Za-z]+|[1-9]\d*)"
_UPLOAD = re.compile(rf"{_WHO}_(?P<attachment>[1-9]\d*)_(?P<file>.+)", re.IGNORECASE | re.DOTALL)
_ENTRY = re.compile(rf"{_WHO}_(?:text|link)\.html", re.IGNORECASE)
"""A text typed in, or an address, instead of a file."""
_SENT_AGAIN = re.compile(r"-(\d{1,3})\Z")


@dataclass(frozen=True, slots=True)
class _Upload:
    user: str
    name: str
    late: bool
    file: str


def canvas_tops(tree: Tree) -> set[str]:
    """The entries at the top that are Canvas's, or hold a download of it."""
    uploads = [(found, _upload(found.parts)) for found in tree.candidates]
    names = defaultdict(set)
    for _, upload in uploads:
        if upload:
            names[upload.user].add(upload.name)
    # "ada_2026_11_backprop", "bob_2026_11_backprop": a date, as a user has one name
    return {
        found.parts[0]
        for found, upload in uploads
        if upload and len(names[upload.user]) == 1 and upload.name == upload.name.lower()
    }


def read_canvas(tree: Tree) -> Reading:
    """The folder as Canvas's names tell; what is not named so is read by file names."""
    sightings = tuple(_sighting(found) for found in tree.candidates)
    handed_in = {submitter.id for sighting in sightings for submitter in sighting.submitters}
    typed = {submitter.id: submitter for submitter in _typed(tree.others)}
    return Reading(
        CANVAS,
        sightings,
        tuple(submitter for user, submitter in typed.items() if user not in handed_in),
    )


def _sighting(found: Found) -> Sighting:
    upload = _upload(found.parts)
    if upload is None:
        return file_sighting(found)
    again = _SENT_AGAIN.search(stem(upload.file))
    return Sighting(
        found,
        (_submitter(upload.user, upload.name),),
        late=upload.late,
        attempt=int(again[1]) if again else attempt_of(upload.file),
    )


def _upload(parts: tuple[str, ...]) -> _Upload | None:
    # The outermost name counts, and in it the first numbers: what follows is the student's text.
    for part in parts:
        if match := _UPLOAD.fullmatch(spelled(part)):
            return _Upload(match["user"], match["name"] or "", bool(match["late"]), match["file"])
    return None


def _typed(others: Iterable[Found]) -> Iterable[Submitter]:
    for found in others:
        if match := _ENTRY.fullmatch(spelled(found.name)):
            yield _submitter(match["user"], match["name"] or "")


def _submitter(user: str, name: str) -> Submitter:
    return Submitter(user, name=name, canvas=user)
