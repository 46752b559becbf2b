"""Find the answer cells of a notebook by metadata or first comment."""

# Commands that only need to know which notebook a file is import this and no torch.

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from grader.answer.parse import prefix_of
from grader.submission.carried_course import advice_on, carried_files
from grader.submission.notebook_file import Cell, UnreadableNotebook, shown

MOST_ANSWER_CELLS = 300

GRADE_ID = re.compile(r"[A-Za-z]{1,20}\d{1,9}[a-z]?-[A-Za-z0-9_-]{1,69}")
"""The exercise's prefix, then nbgrader's own alphabet; at most a hundred characters."""

_LINE = re.compile(r"[^\n]+")
ROLE_COMMENT = re.compile(r"#\s*(answer|check|try)\s*:\s*([A-Za-z0-9_-]+)\s*")


def find_answer_cells(cells: Sequence[Cell]) -> list[tuple[str, Cell]]:
    """The cells that say they are answers, in order, each with its id."""
    return [(grade_id, cell) for cell in cells if (grade_id := answer_id(cell))]


def answer_id(cell: Cell) -> str | None:
    """The id of an answer cell ("ex1-softmax"), None for any other cell.

    It stands in the metadata, or else, since editors drop metadata, in the cell's first comment
    lines (`# answer: ex1-softmax`).
    """
    if cell.nbgrader:
        grade_id = cell.nbgrader.get("grade_id") if cell.nbgrader.get("solution") is True else None
    else:
        source = cell.source or ""
        roles = role_comments(source) if "answer" in source else ()  # nearly no cell has the word
        grade_id = next((name for role, name in roles if role == "answer"), None)
    return grade_id if isinstance(grade_id, str) and GRADE_ID.fullmatch(grade_id) else None


def which_notebook(
    path: Path, cells: Sequence[Cell], known: Mapping[str, str], advise: bool = True
) -> str:
    """The notebook that most answers belong to; the file's name says nothing.

    Args:
        path: the file, for the sentence.
        cells: all its cells.
        known: the notebook of each exercise's prefix.
        advise: True where the reader may choose the course: the sentence says of one carried.

    Raises:
        UnreadableNotebook: it is not one of the course's notebooks; the message is a sentence.
    """
    # distinct ids: one exercise pasted twice into another's notebook must not outvote it
    found = find_answer_cells(cells)
    if len(found) > MOST_ANSWER_CELLS:
        raise UnreadableNotebook(
            f"{shown(path)} has {len(found):,} answer cells: at most {MOST_ANSWER_CELLS} are read."
        )
    prefixes = [prefix_of(name) for name in dict.fromkeys(name for name, _ in found)]
    votes = Counter(known[prefix] for prefix in prefixes if prefix in known)
    if votes:
        return max(known.values(), key=lambda notebook: votes[notebook])
    expected = ", ".join(f"{prefix}-..." for prefix in known)
    if prefixes:
        advice = f" It carries {advice_on(path)}" if advise and carried_files(cells) else ""
        raise UnreadableNotebook(
            f"{shown(path)} answers {prefixes[0]}, and this grader knows only {expected}: "
            "is it another course's notebook (`--course` says which), or is there a newer version "
            f"of the grader?{advice}"
        )
    why = (
        f"none of its cells is an answer cell (by a grade_id {expected}, or a first line such as "
        "`# answer: ex1-softmax`)"
        if cells
        else "it has no cells"
    )
    raise UnreadableNotebook(f"{shown(path)} is not one of the course's notebooks: {why}.")


def role_comments(source: str) -> Iterator[tuple[str, str]]:
    """The roles in the first lines of a cell, such as `("answer", "ex1-softmax")`.

    Comments and magics may stand before and between them.
    """
    for found in _LINE.finditer(source):  # most cells end at the first
        line = found[0].strip()
        if match := ROLE_COMMENT.fullmatch(line):
            yield match[1], match[2]
        elif line and not line.startswith(("#", "%")):
            break
