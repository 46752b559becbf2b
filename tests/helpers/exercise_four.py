"""The answers of notebook 4 as tests want them."""

from __future__ import annotations

from corpus.readers.exercise_text import read_cells
from corpus.readers.places import ANSWERS
from grader.answer.parse import AnswerCell

RIGHT = ANSWERS / "ex4" / "right"
STYLES = sorted(path.stem for path in RIGHT.glob("*.py"))


def right_answer(style: str = "notebook") -> str:
    """The text of a right answer."""
    return (RIGHT / f"{style}.py").read_text(encoding="utf-8")


def as_cells(text: str) -> tuple[AnswerCell, ...]:
    """The answer cells in a text."""
    return tuple(AnswerCell(grade_id, source) for grade_id, source in read_cells(text))


def with_mistake(right: str, wrong: str) -> str:
    """The notebook's answer with one expression replaced."""
    text = right_answer()
    assert text.count(right) == 1, right
    return text.replace(right, wrong)
