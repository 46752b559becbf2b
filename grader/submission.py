"""A notebook handed in, as the answers it contains."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from grader.answer import AnswerCell
from grader.answer_cells import Claim, find_claims, which_notebook
from grader.assigned import first_assignments, has_only_blanks
from grader.exercises import NOTEBOOKS, Exercise
from grader.notebook_file import Cell, UnreadableNotebook, cells_in, read_cells
from grader.verdict import Flag, Place

__all__ = [
    "Submission",
    "UnreadableNotebook",
    "find_answers",
    "read_submission",
    "submission_in",
]


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


def read_submission(path: Path) -> Submission:
    """Read an .ipynb.

    Raises:
        UnreadableNotebook: if it is not one of the course's notebooks; the message is a sentence.
    """
    return find_answers(path, read_cells(path), NOTEBOOKS)


def submission_in(data: bytes, path: Path) -> Submission:
    """What `read_submission` makes of a file that holds `data`; `path` is how it is called."""
    return find_answers(path, cells_in(data, path), NOTEBOOKS)


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
    claims = find_claims(cells)
    known = {ex.prefix: notebook for notebook, exercises in notebooks.items() for ex in exercises}
    notebook = which_notebook(path, cells, claims, known)
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


def _settle_copies(
    found: Sequence[Claim], gradients: Sequence[str]
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


def _kept_copies(copies: Sequence[Claim], gradients: Sequence[str]) -> list[int]:
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


def _flag_other_exercises(claims: Sequence[Claim], prefixes: set[str]) -> Iterator[Flag]:
    for found in claims:
        if found.prefix not in prefixes:
            yield Flag(
                "other-exercise",
                f"The answer cell {found.grade_id} belongs to another notebook of the course: "
                "it is not graded here.",
                Place(found.grade_id, 1),
            )


def _flag_ungraded(own: Sequence[Claim]) -> Iterator[Flag]:
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
    cells: Sequence[Cell], claims: Sequence[Claim], gradients: Sequence[str]
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


def _flag_dropped_metadata(own: Sequence[Claim]) -> Iterator[Flag]:
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
