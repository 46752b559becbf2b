"""Folders that no system laid out: a file, or a folder, named after each student."""

from __future__ import annotations

import re

from grader.intake.sighting import Reading, Sighting, Submitter, attempt_of, spelled
from grader.intake.walk import Found, Tree, stem

FLAT = "one file a student"
FOLDERS = "one folder a student"

NOTEBOOKS = (
    "01_atomic_backprop",
    "02_fused_cross_entropy",
    "03_fused_batchnorm",
    "04_manual_training",
)
"""The course's notebooks. Not read from grader.exercises, whose import loads torch."""


def _name_pattern() -> re.Pattern[str]:
    # Systems and people write spaces or hyphens for the underscores, and leave the number out.
    names = []
    for notebook in NOTEBOOKS:
        number, *words = notebook.split("_")
        names.append(rf"(?:{number}[\s_-]*)?" + r"[\s_-]*".join(words))
    return re.compile(rf"(?<![^\W_])(?:{'|'.join(names)})(?![^\W_])", re.IGNORECASE)


_NOTEBOOK_NAME = _name_pattern()
_COUNTER = re.compile(r"(?:\s*\((\d{1,3})\)|-(\d{1,2})|-Copy\d*)(?=[\s_.-]|\Z)", re.IGNORECASE)
"""What a browser, Canvas, or JupyterLab appends to a name that is taken."""
_BETWEEN = " \t_-.+,"


def read_file_names(tree: Tree) -> Reading:
    """The student of a file is its folder at the top, else what its own name says."""
    sightings = tuple(file_sighting(found) for found in tree.candidates)
    tops = [parts[0] for parts in tree.folders if len(parts) == 1]
    with_files = {found.parts[0] for found in tree.candidates if len(found.parts) > 1}
    notices = []
    if len(with_files) == 1 and len(sightings) > len(NOTEBOOKS) and len(tops) == 1:
        notices.append(
            f"Everything lies in the one folder {spelled(tops[0])!r}, which is taken for one "
            "student: if it holds the class, name that folder instead."
        )
    return Reading(
        FOLDERS if tops else FLAT,
        sightings,
        tuple(_of_folder(top) for top in tops if top not in with_files),
        tuple(notices),
    )


def file_sighting(found: Found) -> Sighting:
    """What the file's path tells where no system's convention does."""
    if len(found.parts) > 1:
        return Sighting(found, (_of_folder(found.parts[0]),), attempt=attempt_of(found.name))
    who, attempt = split_name(spelled(stem(found.name)))
    words = tuple(word for word in re.split(r"[\s_,+()-]+", who) if len(word) > 2)
    return Sighting(found, (Submitter(who, keys=(who,), words=words),), attempt=attempt)


def _of_folder(name: str) -> Submitter:
    return Submitter(spelled(name), keys=(spelled(name),))


def split_name(text: str) -> tuple[str, int]:
    """Who handed in a file, and which attempt it is, by the file's stem.

    >>> split_name("ada_01_atomic_backprop (2)")
    ('ada', 2)
    >>> split_name("01_atomic_backprop (2)")
    ('01_atomic_backprop (2)', 0)
    """
    found = _NOTEBOOK_NAME.search(text)
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
