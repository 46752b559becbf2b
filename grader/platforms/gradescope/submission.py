"""The submission that Gradescope gives to the autograder."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from grader.classroom.intake.times import as_instant
from grader.classroom.intake.walk import Parts, as_text, walk
from grader.classroom.run.line import Line
from grader.printable import listed, printable

MOST_NOTEBOOKS = 10
"""The most notebooks that are graded to find out which of them is meant."""

MOST_NAMES = 5
"""The most names that a sentence lists."""

LARGEST_METADATA = 256 * 2**20
"""The most bytes of the metadata, which may hold the results of the previous submission."""


class NothingToGrade(Exception):
    """It is not clear which notebook to grade; the message is a sentence for the student."""


@dataclass(frozen=True, slots=True)
class Metadata:
    """What Gradescope says about a submission: its number, when it came and when it was due."""

    id: str = ""
    submitted: datetime | None = None
    due: datetime | None = None

    @property
    def late(self) -> bool:
        """True if it came after it was due."""
        return self.submitted is not None and self.due is not None and self.submitted > self.due


def read_metadata(path: Path) -> Metadata:
    """Read submission_metadata.json; a missing or strange file says nothing.

    A student with an extension has a due date of their own. For a group, the latest one counts.
    """
    try:
        if path.stat().st_size > LARGEST_METADATA:
            return Metadata()
        document: Any = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError, MemoryError):
        return Metadata()
    if not isinstance(document, dict):
        return Metadata()
    users, identity = document.get("users"), document.get("id")
    own = [due for user in users if (due := _due(user))] if isinstance(users, list) else []
    return Metadata(
        str(identity) if isinstance(identity, int | str) else "",
        _instant(document.get("created_at")),
        max(own, default=_due(document)),
    )


def _due(holder: Any) -> datetime | None:
    assignment = holder.get("assignment") if isinstance(holder, dict) else None
    return _instant(assignment.get("due_date")) if isinstance(assignment, dict) else None


def _instant(text: Any) -> datetime | None:
    return as_instant(text) if isinstance(text, str) else None


def notebooks_in(folder: Path) -> list[Parts]:
    """Find the files that may be the required notebook.

    Raises:
        NothingToGrade: there are none, or too many to look into.
    """
    try:
        tree = walk(folder)
    except OSError:
        raise NothingToGrade("Nothing was handed in.") from None
    if not tree.candidates:
        names = [as_text(parts) for parts in tree.others]
        raise NothingToGrade(
            f"There is no notebook in what you handed in ({_listed(names)}): hand in the notebook "
            "itself, an .ipynb file."
            if names
            else "Nothing was handed in that could be graded: hand in the notebook, an .ipynb file."
        )
    if len(tree.candidates) > MOST_NOTEBOOKS:
        raise NothingToGrade(
            f"There are {len(tree.candidates)} notebooks or archives in what you handed in, and it "
            "is not clear which one to grade: hand in the one notebook alone."
        )
    return tree.candidates


def choose(lines: Sequence[Line], notebook: str) -> tuple[Line, list[str]]:
    """Choose the line of the required notebook, and say in sentences what else was handed in.

    If there are several, the one with the notebook's own name counts. Copies of each other count as
    one.

    Raises:
        NothingToGrade: the notebook was not handed in, or it is not clear which file it is.
    """
    asked = [line for line in lines if line.report and line.report.notebook == notebook]
    once = list({line.file.sha256: line for line in asked}.values())
    named = [line for line in once if Path(line.file.path).name == f"{notebook}.ipynb"]
    if not once:
        raise NothingToGrade(_none_of_them(lines, notebook))
    if len(once) > 1 and len(named) != 1:
        raise NothingToGrade(
            f"{_listed([line.file.path for line in once])} are all {notebook}, and it is not clear "
            "which one to grade: hand in one of them alone."
        )
    chosen = named[0] if len(once) > 1 else once[0]
    others = [line.file.path for line in once if line is not chosen]
    return chosen, [f"Also there, and not graded: {_listed(others)}."] if others else []


def _none_of_them(lines: Sequence[Line], notebook: str) -> str:
    failures = [printable(line.error) for line in lines if line.error is not None]
    if failures:
        return " ".join(failures[:MOST_NAMES])
    others = [
        f"{printable(line.file.path)} is {line.report.notebook}" for line in lines if line.report
    ]
    return f"{listed(others)}; the notebook to hand in here is {notebook}."


def _listed(names: Sequence[str]) -> str:
    """`a, b, c and 4 more`."""
    return listed(map(printable, names), most=MOST_NAMES)
