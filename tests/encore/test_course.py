"""The encore is a course folder like anybody's: its notebooks, hints and answers are in order."""

from __future__ import annotations

import nbformat
import pytest

from corpus.readers.encore import ANSWERS, COURSE, LAYOUT
from grader.authoring.build import verify
from grader.authoring.dev_check import check_exercise, right_answers
from grader.execution.runner import Runner
from grader.program.exercises import Exercise, load_exercises

EXERCISES = load_exercises(COURSE)


def test_it_has_these_notebooks_and_exercises() -> None:
    assert COURSE.notebooks == ("05_attention", "06_block", "07_training")
    asked = {each.prefix: len(each.gradients) for each in EXERCISES}
    assert asked == {
        **{"ex5": 16, "ex5f": 5},
        **{"ex6n": 4, "ex6p": 8, "ex6": 25, "ex6e": 2},
        **{"ex7": 5, "ex7p": 9},
    }


@pytest.mark.slow
def test_the_committed_notebooks_are_what_their_sources_make() -> None:
    assert verify(LAYOUT) == []


@pytest.mark.slow
@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda each: each.prefix)
def test_the_blank_is_to_do_and_every_right_answer_passes(
    exercise: Exercise, warm_runner: Runner
) -> None:
    assert len(right_answers(exercise, ANSWERS)) >= 6
    assert [*check_exercise(exercise, warm_runner, LAYOUT)] == []


FUNCTION = {"05_attention": "attention", "06_block": "block", "07_training": "names_loss"}


@pytest.mark.parametrize("name", COURSE.notebooks)
def test_a_notebook_carries_its_course_and_leads_to_colab(name: str) -> None:
    cells = nbformat.read(LAYOUT.blanks / f"{name}.ipynb", as_version=4).cells
    carried = [cell.source for cell in cells if "start_lesson({" in cell.source]
    assert len(carried) == 1
    assert f"def {FUNCTION[name]}(" in carried[0]
    assert f"/blob/main/notebooks/encore/{name}.ipynb)" in cells[0].source


PICTURES = {"05_attention": 10, "06_block": 10, "07_training": 7}
"""How many pictures a solution shows, at least; boards are not pictures."""


def test_every_picture_of_the_solution_says_what_it_shows() -> None:
    for name in COURSE.notebooks:
        solved = nbformat.read(LAYOUT.solutions / f"{name}.ipynb", as_version=4)
        outputs = [o for cell in solved.cells for o in cell.get("outputs", [])]
        pictures = [o for o in outputs if "image/png" in o.get("data", {})]
        assert len(pictures) >= PICTURES[name]
        assert all(len(o.metadata["image/png"]["alt"]) > 30 for o in pictures)
