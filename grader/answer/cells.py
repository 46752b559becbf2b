"""Which exercise an answer cell belongs to, by its id."""

# Commands that only need to know which notebook a file is import this and no torch.

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from grader.answer.parse import AnswerCell


def prefix_of(grade_id: str) -> str:
    """The exercise that an answer cell's id begins with: "ex1" of "ex1-softmax"."""
    return grade_id.partition("-")[0]


def cells_of(prefix: str, cells: Iterable[AnswerCell]) -> list[AnswerCell]:
    """The answer cells of one exercise, in order."""
    return [cell for cell in cells if prefix_of(cell.grade_id) == prefix]
