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
from grader.program.course import Course, built_in_course
from grader.submission.answer_cells import MOST_ANSWER_CELLS, find_answer_cells, which_notebook
from grader.submission.copies import graded_copies
from grader.submission.lecture import cut_lecture
from grader.submission.notebook_file import (
    Cell,
    UnreadableNotebook,
    cells_in,
    is_solved,
    read_bytes,
    shown,
)
from grader.verdict import Flag, Place


@dataclass(frozen=True, slots=True)
class Submission:
    """The answer cells of one notebook in their order, and what a human should see about them.

    `others` are the code cells that are not graded, called "cell 3". Kinds of flag:
    `other-exercise`, `duplicate-answer`, `not-code`, `unreadable-answer`, `missing-answer`,
    `shipped-solution`, `metadata-dropped`.
    """

    path: Path
    notebook: str
    cells: tuple[AnswerCell, ...]
    flags: tuple[Flag, ...] = ()
    others: tuple[AnswerCell, ...] = ()


def read_submissions(path: Path, course: Course) -> list[tuple[Course, Submission]]:
    """Read an .ipynb; a copy of the lecture's notebook has a course of its own for each exercise.

    Raises:
        UnreadableNotebook: if it is not one of the course's notebooks; the message is a sentence.
    """
    data = read_bytes(path)
    may_be_lecture = course == built_in_course() and b"retain_grad" in data
    cuts = cut_lecture(cells_in(data, path)) if may_be_lecture else ()
    return [(own, Submission(path, own.notebooks[0], cells)) for own, cells in cuts] or [
        (course, submission_in(data, path, course, advise=True))
    ]


def read_submission(path: Path, course: Course) -> Submission:
    """Read an .ipynb that is one of the course's notebooks; raises as `read_submissions` does."""
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
