"""A notebook handed in, as the answers it contains."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grader.answer import AnswerCell
from grader.assigned import first_assignments, has_only_blanks
from grader.exercises import NOTEBOOKS, Exercise
from grader.notebook_file import Cell, UnreadableNotebook, read_cells, shown
from grader.verdict import Flag, Place

__all__ = ["Submission", "UnreadableNotebook", "find_answers", "read_submission"]

GRADE_ID = re.compile(r"([A-Za-z]+\d+[a-z]?)-[A-Za-z0-9_-]+")
"""The exercise's prefix, then nbgrader's own alphabet."""

ANSWER_COMMENT = re.compile(r"#\s*answer\s*:\s*([A-Za-z0-9_-]+)\s*")


@dataclass(frozen=True, slots=True)
class Submission:
    """The answer cells of one notebook in their order, and what a human should see about them.

    Kinds of flag: `other-exercise`, `duplicate-answer`, `not-code`, `unreadable-answer`,
    `missing-answer`, `outside-answer`, `metadata-dropped`.
    """

    path: Path
    notebook: str
    cells: tuple[AnswerCell, ...]
    flags: tuple[Flag, ...] = ()


@dataclass(frozen=True, slots=True)
class _Found:
    """A cell that says it is an answer."""

    grade_id: str
    prefix: str
    cell: Cell

    @property
    def source(self) -> str:
        return self.cell.source or ""


def read_submission(path: Path) -> Submission:
    """Read an .ipynb.

    Raises:
        UnreadableNotebook: if it is not one of the course's notebooks; the message is a sentence.
    """
    return find_answers(path, read_cells(path), NOTEBOOKS)


def find_answers(
    path: Path, cells: Sequence[Cell], notebooks: Mapping[str, Sequence[Exercise]]
) -> Submission:
    """The answers among `cells`.

    An answer cell is known by its nbgrader metadata, or else by its first comment line
    (`# answer: ex1-softmax`), since editors drop metadata. Which notebook it is, the answers'
    prefixes say, never the file's name.

    A grade_id that stands there twice is a copy or a split cell. As when the notebook runs from
    top to bottom, a later copy overrules an earlier one; but blanks overrule nothing, and a copy
    is left out only if later ones assign all its gradients again, so that both halves of a
    split cell count. From the second on, copies are called `ex1-softmax#2`.
    """
    claims = [found for cell in cells if (found := _as_answer(cell))]
    notebook = _which_notebook(path, cells, claims, notebooks)
    exercises = notebooks[notebook]
    prefixes = {exercise.prefix for exercise in exercises}
    gradients = tuple(name for exercise in exercises for name in exercise.gradients)
    own = [found for found in claims if found.prefix in prefixes]
    readable = [found for found in own if found.cell.kind == "code" and found.cell.source]

    answers, duplicates = _settle_copies(readable, gradients)
    flags = [
        *_flag_other_exercises(claims, prefixes),
        *duplicates,
        *_flag_ungraded(own),
        *_flag_missing(answers, gradients),
        *_flag_outside(cells, claims, gradients),
        *_flag_dropped_metadata(own),
    ]
    return Submission(path, notebook, answers, tuple(flags))


def _as_answer(cell: Cell) -> _Found | None:
    if cell.nbgrader:
        grade_id: Any = cell.nbgrader.get("grade_id")
        solution = cell.nbgrader.get("solution") is True
        if not (solution and isinstance(grade_id, str)):
            return None
    else:
        grade_id = _comment_id(cell.source or "")
    match = GRADE_ID.fullmatch(grade_id or "")
    return _Found(match[0], match[1], cell) if match else None


def _comment_id(source: str) -> str | None:
    """The grade_id in the first lines of a cell; comments and magics may stand before it."""
    for line in map(str.strip, source.split("\n")):
        if match := ANSWER_COMMENT.fullmatch(line):
            return match[1]
        if line and not line.startswith(("#", "%")):
            break
    return None


def _which_notebook(
    path: Path,
    cells: Sequence[Cell],
    claims: Sequence[_Found],
    notebooks: Mapping[str, Sequence[Exercise]],
) -> str:
    known = {ex.prefix: notebook for notebook, exercises in notebooks.items() for ex in exercises}
    # distinct ids: one exercise pasted twice into another's notebook must not outvote it
    ids = {(found.grade_id, found.prefix) for found in claims}
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


def _settle_copies(
    found: Sequence[_Found], gradients: Sequence[str]
) -> tuple[tuple[AnswerCell, ...], list[Flag]]:
    answers: dict[int, AnswerCell] = {}
    flags = []
    for grade_id in dict.fromkeys(item.grade_id for item in found):
        copies = [item for item in found if item.grade_id == grade_id]
        kept = _kept_copies(copies, gradients)
        for index in kept:
            name = grade_id if index == 0 else f"{grade_id}#{index + 1}"
            answers[copies[index].cell.number] = AnswerCell(name, copies[index].source)
        if len(copies) > 1:
            which = _listed([f"copy {index + 1}" for index in kept], " and ")
            flags.append(
                Flag(
                    "duplicate-answer",
                    f"The answer cell {grade_id} is there {len(copies)} times; graded: {which} "
                    "(later copies overrule earlier ones, blanks do not).",
                    Place(f"cell {copies[1].cell.number}", 1),
                )
            )
    return tuple(answers[number] for number in sorted(answers)), flags


def _kept_copies(copies: Sequence[_Found], gradients: Sequence[str]) -> list[int]:
    if len(copies) == 1:
        return [0]
    kept: list[int] = []
    assigned_later: set[str] = set()
    for index in reversed(range(len(copies))):
        source = copies[index].source
        assigned = first_assignments(source, gradients).keys()
        if has_only_blanks(source) or (assigned and assigned <= assigned_later):
            continue
        assigned_later |= assigned
        kept.insert(0, index)
    return kept or [len(copies) - 1]


def _flag_other_exercises(claims: Sequence[_Found], prefixes: set[str]) -> Iterator[Flag]:
    for found in claims:
        if found.prefix not in prefixes:
            yield Flag(
                "other-exercise",
                f"The answer cell {found.grade_id} belongs to another notebook of the course: "
                "it is not graded here.",
                Place(found.grade_id, 1),
            )


def _flag_ungraded(own: Sequence[_Found]) -> Iterator[Flag]:
    for found in own:
        place = Place(found.grade_id, 1)
        if found.cell.source is None:
            yield Flag(
                "unreadable-answer",
                f"The answer cell {found.grade_id} holds no readable text, or far too much of it: "
                "it is not graded.",
                place,
            )
        elif found.cell.kind != "code":
            kind = {"markdown": "a Markdown", "raw": "a raw"}.get(found.cell.kind, "not a code")
            yield Flag(
                "not-code",
                f"The answer cell {found.grade_id} is {kind} cell, so it is not graded: turn it "
                "back into a code cell (press Y).",
                place,
            )


def _flag_missing(answers: Sequence[AnswerCell], gradients: Sequence[str]) -> Iterator[Flag]:
    text = "\n".join(cell.source for cell in answers)
    mentioned = set(re.findall(r"\w+", text))
    missing = [name for name in gradients if name not in mentioned]
    if missing:
        some = missing if len(missing) <= 6 else [*missing[:5], f"{len(missing) - 5} others"]
        yield Flag(
            "missing-answer",
            f"No answer cell mentions {_listed(some, ' or ')}: was an answer cell deleted, "
            "or its first line changed?",
            None,
        )


def _flag_outside(
    cells: Sequence[Cell], claims: Sequence[_Found], gradients: Sequence[str]
) -> Iterator[Flag]:
    answers = {found.cell.number for found in claims}
    for cell in cells:
        if cell.kind != "code" or cell.number in answers or cell.nbgrader or not cell.source:
            continue
        assigned = first_assignments(cell.source, gradients)
        if assigned:
            yield Flag(
                "outside-answer",
                f"Cell {cell.number} of the notebook assigns {_listed(list(assigned), ' and ')}, "
                "but is not an answer cell: only answer cells are graded.",
                Place(f"cell {cell.number}", min(assigned.values())),
            )


def _flag_dropped_metadata(own: Sequence[_Found]) -> Iterator[Flag]:
    dropped = sum(not found.cell.nbgrader for found in own)
    if dropped:
        yield Flag(
            "metadata-dropped",
            f"An editor has dropped the nbgrader metadata of {dropped} of {len(own)} answer cells. "
            "They were found by their first line, so nothing is lost here; nbgrader itself would "
            "not see them.",
            None,
        )


def _listed(names: Sequence[str], joint: str) -> str:
    """`a, b and c`."""
    return joint.join(filter(None, [", ".join(names[:-1]), *names[-1:]]))
