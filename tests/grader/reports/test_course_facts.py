from __future__ import annotations

from grader.program.exercises import EXERCISES
from grader.reports.course_facts import FILE, gradients_of, notebooks, read_course
from grader.reports.course_file import course_file


def test_the_file_is_that_of_the_course() -> None:
    """If not: `python -m grader.reports.course_file`."""
    assert FILE.read_text(encoding="utf-8") == course_file(EXERCISES)


def test_knows_every_exercise() -> None:
    assert [facts.gradients for facts in read_course()] == [e.gradients for e in EXERCISES]
    assert notebooks() == tuple(dict.fromkeys(exercise.notebook for exercise in EXERCISES))


def test_a_gradient_stands_once_in_a_notebook() -> None:
    """Where two exercises share a notebook, a result's name has to say which one is meant."""
    for notebook in notebooks():
        names = [gradient for _, gradient in gradients_of(notebook)]
        assert names
        assert len(names) == len(set(names))


def test_every_gradient_has_its_box() -> None:
    for facts in read_course():
        for gradient in facts.gradients:
            assert facts.board.count(f">{gradient}</text>") == 1
            assert f'class="{{{gradient}.outcome}}"' in facts.board
