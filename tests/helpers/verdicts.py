"""The verdicts on an answer that is written as one text."""

from __future__ import annotations

from corpus.readers.exercise_text import read_cells
from grader.answer.parse import AnswerCell
from grader.execution.runner import Runner
from grader.grading.grade import grade_exercise
from grader.program.exercises import Exercise
from grader.verdict import Verdict


def answer_cells(source: str) -> list[AnswerCell]:
    """The answer cells of a text of answers."""
    return [AnswerCell(grade_id, text) for grade_id, text in read_cells(source)]


def verdicts_of(exercise: Exercise, source: str, runner: Runner) -> dict[str, Verdict]:
    """By gradient, of an answer that raises no flag."""
    verdicts, flags = grade_exercise(exercise, answer_cells(source), runner)
    assert not flags
    return {verdict.name: verdict for verdict in verdicts}
