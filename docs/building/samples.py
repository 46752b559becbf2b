"""Submissions with mistakes in them, graded for the pages that show what the grader says."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from corpus.readers.exercise_text import read_cells, right_answers, sample_submissions
from grader.answer.parse import AnswerCell
from grader.execution.runner import Runner
from grader.grading.grade import grade
from grader.program.course import built_in_course
from grader.program.exercises import exercise_called
from grader.verdict import Report

ATOMIC = exercise_called(built_in_course(), "ex1")

INVISIBLE = (
    "dlogit_maxes = (-dnorm_logits).sum(1, keepdim=True)",
    "dlogit_maxes = dnorm_logits.sum(1, keepdim=True)",
)
"""A line of the lecture's answer, and one that is wrong although every value is the same."""

ONLY_HERE = ("db2 = dlogits.sum(0)", 'db2 = dlogits.sum(0) + (n != ord(" ")) * dlogits.exp()[0]')
"""A line of the lecture's answer, and one that is right with 32 examples, and with 32 only."""


@cache
def reports() -> Mapping[str, Report]:
    """What the grader says of the sample submissions, of a shortcut and of two odd mistakes."""
    right = right_answers()
    texts = {
        **sample_submissions(),
        "shortcuts": right["shortcuts"],
        "invisible": _edited(right["lecture"], *INVISIBLE),
        "only here": _edited(right["lecture"], *ONLY_HERE),
    }
    with Runner() as runner:
        return {
            name: grade([ATOMIC], [AnswerCell(*cell) for cell in read_cells(text)], runner)
            for name, text in texts.items()
        }


def _edited(text: str, line: str, instead: str) -> str:
    if text.count(line) != 1:
        raise ValueError(f"The lecture's answer has this line {text.count(line)} times: {line}")
    return text.replace(line, instead)
