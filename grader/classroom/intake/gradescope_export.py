"""Gradescope's export: numbered folders, and a list that says whose they are."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from grader.classroom.intake.class_folder import UnreadableClass, explained
from grader.classroom.intake.plain_layouts import sighted
from grader.classroom.intake.sighting import Sighting, Sightings, Submitter, attempt_of
from grader.classroom.intake.times import as_instant
from grader.classroom.intake.walk import Parts, Tree
from grader.classroom.notices import Notice
from grader.submission.notebook_file import shown

GRADESCOPE = "Gradescope export"

METADATA = "submission_metadata.yml"
MAX_BYTES = 256 * 1024 * 1024
"""The most bytes of the list, which holds the results of every test of every student."""
MAX_DEPTH = 100

_LOADER: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
"""It takes every value as it is spelled; tags of Ruby, where the list comes from, mean nothing."""


def _load(data: bytes) -> Any:
    """Load the document; raise yaml's errors, or ValueError if it is nested too deeply.

    Half of the text is output of students' programs. The C library that builds the document calls
    itself for each level until the process dies, so the levels are counted here first.
    """
    depth = 0
    for event in yaml.parse(data, _LOADER):
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        if depth > MAX_DEPTH:
            raise ValueError("nested without end")
    return yaml.load(data, _LOADER)


def gradescope_tops(tree: Tree) -> set[str]:
    """The entries at the top that belong to an export, or hold one."""
    lists = _lists(tree)
    if any(len(parts) == 1 for parts in lists):
        # The list at the top speaks of everything beside it: no student can have put it there.
        return tree.tops
    return {parts[0] for parts in lists}


def read_gradescope(tree: Tree) -> Sightings:
    """Read the folder by its list or lists.

    Raises:
        UnreadableClass: a list cannot be read, and the numbers alone do not name the students.
    """
    lists = _lists(tree)
    if (METADATA,) in lists:
        lists = [(METADATA,)]  # deeper ones are students' files
    entries = {
        (*parts[:-1], key): entry
        for parts in lists
        for key, entry in _read_list(tree.root.joinpath(*parts)).items()
    }
    depths = {len(parts) for parts in lists}

    def sighting(parts: Parts) -> Sighting | None:
        place = next((parts[:depth] for depth in depths if parts[:depth] in entries), None)
        entry = entries[place] if place else {}
        who = _submitters(entry)
        submitted = as_instant(_text(entry.get(":created_at")))
        return Sighting(parts, who, submitted, attempt=attempt_of(parts[-1])) if who else None

    people = [who for entry in entries.values() for who in _submitters(entry)]
    seen = sighted(GRADESCOPE, tree, sighting, people, used=lists)
    if unlisted := sum(sighting(parts) is None for parts in tree.candidates):
        seen.notices.append(Notice("unlisted", list=METADATA, files=unlisted))
    return seen


def _lists(tree: Tree) -> list[Parts]:
    return [parts for parts in tree.others if parts[-1] == METADATA and len(parts) <= 2]


def _read_list(path: Path) -> Mapping[str, Mapping[str, Any]]:
    with explained(f"{shown(path)} cannot be opened"):
        if path.is_symlink() or not path.is_file():
            raise UnreadableClass(
                f"{shown(path)} is not a regular file, so nobody says who handed in what."
            )
        if path.stat().st_size > MAX_BYTES:
            raise UnreadableClass(f"{shown(path)} is larger than {MAX_BYTES // 2**20} MB.")
        data = path.read_bytes()
    try:
        document = _load(data)
    except (yaml.YAMLError, ValueError, RecursionError, MemoryError, TypeError, AttributeError):
        raise UnreadableClass(
            f"{shown(path)} is not the list that Gradescope writes, and only that says who handed "
            "in what: export the submissions again."
        ) from None
    if not isinstance(document, dict):
        raise UnreadableClass(
            f"{shown(path)} names no submission: export the submissions from Gradescope again."
        )
    return {str(key): entry for key, entry in document.items() if isinstance(entry, dict)}


def _submitters(entry: Mapping[str, Any]) -> tuple[Submitter, ...]:
    """The students who handed in a submission, each once."""
    listed, found = entry.get(":submitters"), {}
    for person in listed if isinstance(listed, list) else ():
        if isinstance(person, dict):
            name, number, email = (_text(person.get(key)) for key in (":name", ":sid", ":email"))
            if user := number or email or name:
                keys = (number,) * bool(number)
                found[user] = Submitter(user, name=name, email=email, keys=keys)
    return tuple(found.values())


def _text(value: Any) -> str:
    text = value if isinstance(value, str) and value not in ("null", "~") else ""
    text = text.encode("utf-8", "backslashreplace").decode()  # half a surrogate pair
    return unicodedata.normalize("NFC", text).strip()
