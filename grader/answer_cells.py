"""Which cells of a notebook are answers, by what the cells say of themselves."""

# Commands that only need to know which notebook a file is import this and no torch.

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grader.notebook_file import Cell, UnreadableNotebook, shown

GRADE_ID = re.compile(r"([A-Za-z]+\d+[a-z]?)-[A-Za-z0-9_-]+")
"""The exercise's prefix, then nbgrader's own alphabet."""

ROLE_COMMENT = re.compile(r"#\s*(answer|check|try)\s*:\s*([A-Za-z0-9_-]+)\s*")


@dataclass(frozen=True, slots=True)
class Claim:
    """A cell that says it is an answer."""

    grade_id: str
    prefix: str
    cell: Cell

    @property
    def source(self) -> str:
        return self.cell.source or ""


def find_claims(cells: Sequence[Cell]) -> list[Claim]:
    """The cells that say they are answers, in order: by metadata, or else by their first comment
    line (`# answer: ex1-softmax`), since editors drop metadata."""
    return [claim for cell in cells if (claim := _claim(cell))]


def which_notebook(
    path: Path, cells: Sequence[Cell], claims: Sequence[Claim], known: Mapping[str, str]
) -> str:
    """The notebook that most answers belong to; the file's name says nothing.

    Args:
        path: the file, for the sentence.
        cells: all its cells.
        claims: the answers among them.
        known: the notebook of each exercise's prefix.

    Raises:
        UnreadableNotebook: it is not one of the course's notebooks; the message is a sentence.
    """
    # distinct ids: one exercise pasted twice into another's notebook must not outvote it
    ids = {(claim.grade_id, claim.prefix) for claim in claims}
    votes = Counter(known[prefix] for _, prefix in ids if prefix in known)
    if votes:
        return max(known.values(), key=lambda notebook: votes[notebook])
    expected = ", ".join(f"{prefix}-..." for prefix in known)
    if claims:
        raise UnreadableNotebook(
            f"{shown(path)} answers {claims[0].prefix}, and this grader knows only {expected}: "
            "is it another course's notebook, or is there a newer version of the grader?"
        )
    raise UnreadableNotebook(
        f"{shown(path)} is not one of the course's notebooks: none of its {len(cells)} cells is an "
        f"answer cell (by a grade_id {expected}, or a first line such as `# answer: ex1-softmax`)."
    )


def role_comments(source: str) -> Iterator[tuple[str, str]]:
    """The roles in the first lines of a cell, such as `("answer", "ex1-softmax")`.

    Comments and magics may stand before and between them.
    """
    for line in map(str.strip, source.split("\n")):
        if match := ROLE_COMMENT.fullmatch(line):
            yield match[1], match[2]
        elif line and not line.startswith(("#", "%")):
            break


def _claim(cell: Cell) -> Claim | None:
    if cell.nbgrader:
        grade_id: Any = cell.nbgrader.get("grade_id")
        solution = cell.nbgrader.get("solution") is True
        if not (solution and isinstance(grade_id, str)):
            return None
    else:
        roles = role_comments(cell.source or "")
        grade_id = next((grade_id for role, grade_id in roles if role == "answer"), None)
    match = GRADE_ID.fullmatch(grade_id or "")
    return Claim(match[0], match[1], cell) if match else None
