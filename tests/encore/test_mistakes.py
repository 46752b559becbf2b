"""Mistakes in the encore: the gradient that has one is blamed alone, and most have a name."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

import pytest

from corpus.readers.any_exercise import is_right, variants
from corpus.readers.encore import COURSE, right
from corpus.readers.exercise_text import read_cells
from corpus.readers.measure import Measured, case_lines, judge_answer, shares
from corpus.readers.one_fault import LabelledFault, spread
from grader.answer.parse import AnswerCell
from grader.execution.runner import Runner
from grader.grading.grade import grade_exercise
from grader.program.exercises import Exercise, exercise_called, exercises_of
from grader.reports import wording

LEAST_NAMED, MOST_MISNAMED = 0.95, 0.01

STYLES = {
    # In `functions` one line makes parts of two gradients: a fault in it is one of both.
    "ex5": ("steps", "einsum", "transposes", "in_place", "loops"),
    "ex5f": ("row_sums", "einsum", "in_place"),
    "ex6n": ("one_expression", "three_terms", "sums"),
    "ex6p": ("steps", "einsum", "batched"),
    "ex6": ("steps", "einsum", "in_place", "rows", "branches"),
    "ex6e": ("index_put", "one_hot"),
    "ex7": ("steps", "one_hot", "in_place", "loops", "masked"),
    "ex7p": ("steps", "in_place", "mask", "index_add", "products", "loops"),
}
VARIANTS_OF_A_STYLE = {
    "ex5": 20,
    "ex5f": 20,
    "ex6n": 15,
    "ex6p": 15,
    "ex6": 20,
    "ex6e": 10,
    "ex7": 15,
    "ex7p": 15,
}


ANOTHER = "(On a batch of another size.)"


@pytest.mark.parametrize(
    ("gradient", "wrong", "is_marked"),
    [("dout", "dheard", True), ("dspread", "(pattern.mT @ dout).sum(0)", False)],
)
def test_how_many_rows_another_batch_has_is_marked_as_such(
    gradient: str, wrong: str, is_marked: bool, warm_runner: Runner
) -> None:
    text = re.sub(rf"(?m)^{gradient} = .*$", f"{gradient} = {wrong}", right("ex7p", "steps"))
    cells = [AnswerCell(*cell) for cell in read_cells(text)]
    verdicts, _ = grade_exercise(exercise_called(COURSE, "ex7p"), cells, warm_runner)
    verdict = next(each for each in verdicts if each.name == gradient)
    assert f"`{gradient}` has shape " in verdict.diagnosis[0].message
    assert (wording.note(verdict) == ANOTHER) is is_marked


def faults(exercise: Exercise, text: str, most: int) -> Iterator[LabelledFault]:
    """So many variants that are wrong, as varied as can be; some variants happen to be right."""
    every = spread(variants(exercise, text), 3 * most)  # to run them all would take a minute
    return itertools.islice((fault for fault in every if not is_right(exercise, fault)), most)


@pytest.mark.slow
@pytest.mark.parametrize("notebook", COURSE.notebooks)
def test_one_fault_variants_are_blamed_alone_and_named(notebook: str, warm_runner: Runner) -> None:
    measured = []
    for exercise in exercises_of(COURSE, notebook):
        prefix = exercise.prefix
        for style in STYLES[prefix]:
            for fault in faults(exercise, right(prefix, style), VARIANTS_OF_A_STYLE[prefix]):
                judged = judge_answer(exercise, fault.source, warm_runner)
                measured.append(Measured(fault, judged))
    found, report = shares(measured), "\n".join(case_lines(measured))
    assert found.faults >= 150
    assert found.alone == found.faults, report
    assert found.named >= LEAST_NAMED, report
    assert found.misnamed <= MOST_MISNAMED, report
