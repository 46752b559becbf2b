"""Folders that no system laid out: a file, or a folder, named after each student."""

from __future__ import annotations

import re
from functools import cache

from grader.classroom.intake.sighting import (
    TIMESTAMP,
    Sighting,
    Sightings,
    Submitter,
    attempt_of,
    spelled,
)
from grader.classroom.intake.walk import Parts, Tree, stem

FLAT = "one file a student"
FOLDERS = "one folder a student"


@cache
def _notebook_name(notebooks: tuple[str, ...]) -> re.Pattern[str]:
    # Systems and people write spaces or hyphens for the underscores, and leave the number out.
    names = []
    for notebook in notebooks:
        number, *words = re.split("[_-]", notebook)
        if number.isdecimal() and words:
            names.append(rf"(?:{number}[\s_-]*)?" + r"[\s_-]*".join(words))
        else:
            names.append(r"[\s_-]*".join((number, *words)))
    return re.compile(rf"(?<![^\W_])(?:{'|'.join(names)})(?![^\W_])", re.IGNORECASE)


_COUNTER = re.compile(r"(?:\s*\((\d{1,3})\)|-(\d{1,2})|-Copy\d*)(?=[\s_.-]|\Z)", re.IGNORECASE)
"""What a browser, Canvas, or JupyterLab appends to a name that is taken."""
_BETWEEN = " \t_-.+,"


def read_file_names(tree: Tree) -> Sightings:
    """The student of a file is its folder at the top, else what its own name says."""
    tops = [parts[0] for parts in tree.folders if len(parts) == 1]
    with_files = {parts[0] for parts in tree.candidates if len(parts) > 1}
    notices = []
    if len(with_files) == 1 and len(tree.candidates) > len(tree.notebooks) and len(tops) == 1:
        notices.append(
            f"Everything lies in the one folder {spelled(tops[0])!r}, which is taken for one "
            "student: if it holds the class, name that folder instead."
        )
    return Sightings(
        FOLDERS if tops else FLAT,
        [file_sighting(parts, tree) for parts in tree.candidates],
        [owner_of(top) for top in tops],
        notices,
        others=[
            file_sighting(parts, tree)
            for parts in tree.others
            if len(parts) > 1 and parts[-1] != TIMESTAMP
        ],
    )


def file_sighting(parts: Parts, tree: Tree) -> Sighting:
    """What the file's path tells where no system's convention does."""
    if len(parts) > 1:
        return Sighting(parts, (owner_of(parts[0]),), attempt=attempt_of(parts[-1]))
    who, attempt = split_name(spelled(stem(parts[-1])), tree.notebooks)
    words = tuple(word for word in re.split(r"[\s_,+()-]+", who) if len(word) > 2)
    return Sighting(parts, (Submitter(who, keys=(who,), words=words),), attempt=attempt)


def owner_of(folder: str) -> Submitter:
    """The student whom a folder of this name belongs to."""
    return Submitter(spelled(folder), keys=(spelled(folder),))


def split_name(text: str, notebooks: tuple[str, ...]) -> tuple[str, int]:
    """Who handed in a file, and which attempt it is, by the file's stem.

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
