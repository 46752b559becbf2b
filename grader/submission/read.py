"""Read a notebook into its answer cells, with flags for a human."""

from __future__ import annotations

import hashlib
import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from grader.answer.parse import LONGEST_ANSWER, AnswerCell, prefix_of, written_names
from grader.printable import listed
from grader.program.course import Course
from grader.submission.answer_cells import MOST_ANSWER_CELLS, find_answer_cells, which_notebook
from grader.submission.copies import graded_copies
from grader.submission.notebook_file import (
    Cell,
    UnreadableNotebook,
    cells_in,
    is_solved,
    read_bytes,
    shown,
)
from grader.verdict import Flag, Place

MOST_NAMES = 5

_ASSIGNED = re.compile(r"^[ \t]*(\w+)[ \t]*(?::[^=\n]*)?[-+*/@]?=(?!=)(.*)", re.MULTILINE)
_BLANK = re.compile(r"\s*(\.\.\.|None)\s*(#.*)?")


@dataclass(frozen=True, slots=True)
class Submission:
    """The answer cells of one notebook in their order, and what a human should see about them.

    `others` are the code cells that are not graded, called "cell 3". Kinds of flag:
    `other-exercise`, `duplicate-answer`, `not-code`, `unreadable-answer`, `missing-answer`,
    `outside-answers`, `renamed-gradients`, `shipped-solution`, `metadata-dropped`.
    """

    path: Path
    notebook: str
    cells: tuple[AnswerCell, ...]
    flags: tuple[Flag, ...] = ()
    others: tuple[AnswerCell, ...] = ()


def read_submission(path: Path, course: Course) -> Submission:
    """Read an .ipynb.

    Raises:
        UnreadableNotebook: if it is not one of the course's notebooks; the message is a sentence.
    """
    return submission_in(read_bytes(path), path, course, advise=True)


def submission_in(
    data: bytes, path: Path, course: Course, advise: bool = False, solved: bool = True
) -> Submission:
    """What `read_submission` makes of a file that holds `data`; `path` is how it is called.

    `advise` as `which_notebook` does: a class is graded by the instructor's course. `solved` says
    that a notebook may be the course's own solution, which nobody in a class has written.

    Which notebook it is, the answers' prefixes say, never the file's name.
    """
    if not solved and is_solved(data, path):
        raise UnreadableNotebook(
            f"{shown(path)} is the course's own solution, as its metadata say, and earns nothing: "
            "hand in the notebook that you have written yourself."
        )
    cells = cells_in(data, path)
    found = find_answer_cells(cells)
    known = course.notebook_of
    notebook = which_notebook(path, cells, known, advise)
    gradients = tuple(gradient for _, gradient in course.gradients(notebook))
    own = [(name, cell) for name, cell in found if known.get(prefix_of(name)) == notebook]
    readable = [(name, cell) for name, cell in own if cell.kind == "code" and cell.source]

    answers, duplicates = graded_copies(readable, gradients)
    numbers = {cell.number for _, cell in found}
    others = [
        AnswerCell(f"cell {cell.number}", cell.source or "")
        for cell in cells
        if cell.kind == "code" and cell.number not in numbers and not cell.nbgrader
    ]
    ends = itertools.accumulate(len(cell.source) for cell in others)
    # They are looked into as an answer is, so no further than into one.
    near = [cell for cell, end in zip(others, ends, strict=True) if end <= LONGEST_ANSWER]
    flags = [
        *_flag_other_exercises(name for name, _ in found if known.get(prefix_of(name)) != notebook),
        *duplicates,
        *_flag_ungraded(own),
        *_flag_missing(answers, gradients),
        *_flag_unmarked(answers, others, gradients),
        *(_flag_shipped(answers, dict(course.solved).get(notebook)) if not solved else ()),
        *_flag_dropped_metadata([cell for _, cell in own]),
    ]
    return Submission(path, notebook, answers, tuple(flags), tuple(near[:MOST_ANSWER_CELLS]))


def _flag_other_exercises(grade_ids: Iterable[str]) -> Iterator[Flag]:
    for grade_id in grade_ids:
        yield Flag(
            "other-exercise",
            f"The answer cell {grade_id} belongs to another notebook of the course: "
            "it is not graded here.",
            Place(grade_id, 1),
        )


def _flag_ungraded(own: Sequence[tuple[str, Cell]]) -> Iterator[Flag]:
    for grade_id, cell in own:
        if cell.source is None:
            yield Flag(
                "unreadable-answer",
                f"The answer cell {grade_id} holds no readable text: it is not graded.",
                Place(grade_id, 1),
            )
        elif cell.kind != "code":
            kind = {"markdown": "a Markdown", "raw": "a raw"}.get(cell.kind, "not a code")
            yield Flag(
                "not-code",
                f"The answer cell {grade_id} is {kind} cell, so it is not graded: turn it "
                "back into a code cell (press Y).",
                Place(grade_id, 1),
            )


def _flag_missing(answers: Sequence[AnswerCell], gradients: Sequence[str]) -> Iterator[Flag]:
    text = "\n".join(cell.source for cell in answers)
    # To parse every cell takes long, and nearly all gradients stand before a sign.
    before = set(re.findall(r"\w+", "\n".join(re.findall(r"^[^=\n]*=", text, re.MULTILINE))))
    missing = [name for name in gradients if name not in before]
    if missing:
        written = frozenset[str]().union(*(written_names(cell.source) for cell in answers))
        missing = [name for name in missing if name not in written]
    if missing:
        some = missing if len(missing) <= 6 else [*missing[:5], f"{len(missing) - 5} others"]
        yield Flag(
            "missing-answer",
            f"No answer cell assigns {listed(some, 'or')}: was a line or a cell deleted, or a "
            "cell's first line changed?",
            None,
        )


def _flag_unmarked(
    answers: Sequence[AnswerCell], others: Sequence[AnswerCell], gradients: Sequence[str]
) -> Iterator[Flag]:
    """Flag gradients that are written in a cell that nobody grades, or under another name."""
    answered, blanks = _assigned(answers)
    without = [name for name in gradients if name not in answered]
    if not without:
        return
    given, _ = _assigned(others)
    # Also what is assigned otherwise, as in `da, db = ...`: to parse takes long.
    parsed = frozenset[str]().union(*(written_names(cell.source) for cell in answers))
    without = [name for name in without if name in blanks or name not in parsed]
    if elsewhere := [name for name in without if name in given]:
        place = given[elsewhere[0]]
        yield Flag(
            "outside-answers",
            f"The values of {listed(elsewhere, most=MOST_NAMES)} are in {place}, which is not an "
            "answer cell, so they earn nothing: write them where the notebook asks for them.",
            Place(place, 1),
        )
        return
    names = given | answered
    renamed = {name: other for name in without for other in _other_names(name) if other in names}
    if renamed:
        example, other = next(iter(renamed.items()))
        yield Flag(
            "renamed-gradients",
            f"The values of {listed(renamed, most=MOST_NAMES)} have other names here, such as "
            f"{other} for {example}, so they earn nothing: use the names that the notebook asks "
            "for.",
            Place(names[other], 1),
        )


def _assigned(cells: Iterable[AnswerCell]) -> tuple[dict[str, str], set[str]]:
    """The names that get a value at the beginning of a line, each with its cell; and the blanks."""
    given, blanks = dict[str, str](), set[str]()
    for cell in cells:
        for name, value in _ASSIGNED.findall(cell.source):
            if _BLANK.fullmatch(value):
                blanks.add(name)
            else:
                given[name] = cell.grade_id
    return given, blanks


def _other_names(gradient: str) -> Iterator[str]:
    """How else people call a gradient: grad_X, X_grad, dL_dX."""
    tensor = gradient.removeprefix("d")
    for form in ("grad_{}", "{}_grad", "g_{}", "d_{}", "dL_d{}", "dLd{}", "dloss_d{}", "D{}"):
        yield form.format(tensor)


def _flag_shipped(answers: Sequence[AnswerCell], shipped: str | None) -> Iterator[Flag]:
    if shipped and fingerprint(answers) == shipped:
        yield Flag(
            "shipped-solution",
            "The answers are the course's own solution word for word; only comments and spaces may "
            "differ.",
            None,
        )


def fingerprint(answers: Iterable[AnswerCell]) -> str:
    """What tells answers from others, but for comments and spaces."""
    text = "\n".join(re.sub(r"#.*|\s", "", cell.source) for cell in answers)
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def _flag_dropped_metadata(own: Sequence[Cell]) -> Iterator[Flag]:
    dropped = sum(not cell.nbgrader for cell in own)
    if dropped:
        yield Flag(
            "metadata-dropped",
            f"An editor has dropped the nbgrader metadata of {dropped} of {len(own)} answer cells. "
            "They were found by their first line, so nothing is lost here; nbgrader itself would "
            "not see them.",
            None,
        )
