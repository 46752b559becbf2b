"""Folders of submissions, made for a test."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from corpus.readers.lecture_course import COURSE
from grader.classroom.intake.class_folder import ClassFolder
from grader.classroom.intake.class_reader import read_class


def make(root: Path, *names: str) -> Path:
    """Empty files of these names below `root`; a name that ends in "/" is a folder."""
    for name in names:
        path = root / name
        (path if name.endswith("/") else path.parent).mkdir(parents=True, exist_ok=True)
        if not name.endswith("/"):
            path.touch()
    return root


def make_bytes(root: Path, names: Iterable[bytes]) -> Path:
    for name in names:
        path = os.path.join(os.fsencode(root), name)  # noqa: PTH118 (bytes, which Path has not)
        os.makedirs(os.path.dirname(path), exist_ok=True)  # noqa: PTH103, PTH120
        with open(path, "wb"):  # noqa: PTH123
            pass
    return root


def handed_in(folder: Path, roster: Path | None = None) -> dict[str, str]:
    """The student of each file."""
    return by_file(read_class(folder, COURSE, roster))


def by_file(found: ClassFolder) -> dict[str, str]:
    return {item.id: item.student for item in found.handed_in}
