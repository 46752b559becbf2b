"""What Gradescope has put before the autograder."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from grader.bulk.line import Line
from grader.intake.times import as_instant
from grader.intake.walk import Found, Tree, as_text, walk
from grader.printable import printable

MOST_NOTEBOOKS = 10
"""More are not graded one after the other to see which of them is meant."""

MOST_NAMES = 5
"""Names that a sentence lists."""

LARGEST_METADATA = 256 * 2**20
"""Bytes: it may hold the results of the submission before."""


class NothingToGrade(Exception):
    """There is not one notebook to grade; the message is a sentence for the student."""


@dataclass(frozen=True, slots=True)
class Metadata:
    """What Gradescope says of a submission: its number, when it came, when it was due."""

    id: str = ""
    submitted: datetime | None = None
    due: datetime | None = None

    @property
    def late(self) -> bool:
        return self.submitted is not None and self.due is not None and self.submitted > self.due


def read_metadata(path: Path) -> Metadata:
    """What submission_metadata.json says; nothing where it is not there, or not understood.

    A student with an extension has a due date of their own. Of a group, the latest counts.
    """
    try:
        if path.stat().st_size > LARGEST_METADATA:
            return Metadata()
        document: Any = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError, MemoryError):
        return Metadata()
    if not isinstance(document, dict):
        return Metadata()
    own = [due for user in _objects(document.get("users")) if (due := _due(user)) is not None]
    identity = document.get("id")
    return Metadata(
        str(identity) if isinstance(identity, int | str) else "",
        _instant(document.get("created_at")),
        max(own, default=_due(document)),
    )


def _due(holder: Mapping[str, Any]) -> datetime | None:
    assignment = holder.get("assignment")
    return _instant(assignment.get("due_date")) if isinstance(assignment, dict) else None


def _instant(text: Any) -> datetime | None:
    return as_instant(text) if isinstance(text, str) else None


def _objects(listed: Any) -> Iterator[Mapping[str, Any]]:
    if isinstance(listed, list):
        yield from (item for item in listed if isinstance(item, dict))


def notebooks_in(folder: Path) -> list[Found]:
    """The files that may be the notebook that was asked for.

    Raises:
        NothingToGrade: there are none, or too many to look into.
    """
    try:
        tree = walk(folder)
    except OSError:
        raise NothingToGrade("Nothing was handed in.") from None
    if not tree.candidates:
        raise NothingToGrade(_nothing(tree))
    if len(tree.candidates) > MOST_NOTEBOOKS:
        raise NothingToGrade(
            f"There are {len(tree.candidates)} notebooks or archives in what you handed in, and it "
            "is not clear which one to grade: hand in the one notebook alone."
        )
    return tree.candidates


def _nothing(tree: Tree) -> str:
    names = [as_text(found.parts) for found in tree.others]
    if not names:
        return "Nothing was handed in that could be graded: hand in the notebook, an .ipynb file."
    return (
        f"There is no notebook in what you handed in ({_listed(names)}): hand in the notebook "
        "itself, an .ipynb file."
    )


def choose(lines: Sequence[Line], notebook: str) -> tuple[Line, list[str]]:
    """The line of the notebook that was asked for, with sentences about the other files.

    Of several, the one with the notebook's own name counts. Copies of each other are one.

    Raises:
        NothingToGrade: there is none, or it is not clear which one.
    """
    asked = [line for line in lines if line.get("notebook") == notebook]
    once = list({line["sha256"]: line for line in asked}.values())
    named = [line for line in once if _name(line) == f"{notebook}.ipynb"]
    if not once:
        raise NothingToGrade(_none_of_them(lines, notebook))
    if len(once) > 1 and len(named) != 1:
        raise NothingToGrade(
            f"{_listed([line['file'] for line in once])} are all {notebook}, and it is not clear "
            "which one to grade: hand in one of them alone."
        )
    chosen = named[0] if len(once) > 1 else once[0]
    notes = []
    if others := [line["file"] for line in once if line is not chosen]:
        notes.append(f"Also there, and not graded: {_listed(others)}.")
    return chosen, notes


def _none_of_them(lines: Sequence[Line], notebook: str) -> str:
    failures = [printable(line["error"]) for line in lines if "error" in line]
    if failures:
        return " ".join(failures[:MOST_NAMES])
    others = [f"{printable(line['file'])} is {line['notebook']}" for line in lines]
    return f"{_and(others)}; the notebook to hand in here is {notebook}."


def _name(line: Line) -> str:
    return str(line["file"]).rpartition("/")[2]


def _listed(names: Sequence[str]) -> str:
    """`a, b, c and 4 more`."""
    more = [f"{len(names) - MOST_NAMES} more"] if len(names) > MOST_NAMES else []
    return _and([*map(printable, names[:MOST_NAMES]), *more])


def _and(names: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
