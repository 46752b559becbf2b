"""Every exercise: its forward program, its gradients, the notebook it belongs to."""

import re
from pathlib import Path

import pytest

from corpus.readers.lecture_course import NOTEBOOKS
from grader.program.exercises import Exercise
from grader.program.forward_program import is_differentiable
from grader.program.instances import HIDDEN_SIZES
from grader.program.parse import body_source, parse_program
from grader.program.references import prepare

EXERCISES = [exercise for group in NOTEBOOKS.values() for exercise in group]
each = pytest.mark.parametrize("exercise", EXERCISES, ids=lambda e: e.prefix)


@each
def test_the_gradients_asked_for_are_those_of_float_tensors(exercise: Exercise) -> None:
    grounds = prepare(exercise)
    tensors = {
        f"d{name}" for name, value in grounds.lecture.values.items() if is_differentiable(value)
    }
    assert set(exercise.gradients) <= tensors
    assert len(exercise.gradients) == len(set(exercise.gradients))
    assert f"d{grounds.program.loss}" not in exercise.gradients


@each
def test_the_gradients_come_from_the_loss_down(exercise: Exercise) -> None:
    """Each after all that hand it their gradient: the order in which they can be written."""
    program = parse_program(exercise.forward)
    for place, gradient in enumerate(exercise.gradients):
        later = {f"d{step}" for step in program.descendants(gradient[1:])}
        assert later.isdisjoint(exercise.gradients[place + 1 :]), gradient


@each
def test_the_sizes_are_those_of_the_program(exercise: Exercise) -> None:
    names = parse_program(exercise.forward).size_names
    assert set(exercise.sizes) == set(names)
    # A size of the lecture's in a hidden instance would let a hard-coded one through.
    for sizes in HIDDEN_SIZES:
        assert len(sizes) >= len(names)
        assert set(sizes).isdisjoint(exercise.sizes.values())


@each
def test_the_notebooks_forward_cell_is_the_programs_text(exercise: Exercise, project: Path) -> None:
    source = (project / f"notebooks/source/{exercise.notebook}.py").read_text(encoding="utf-8")
    cells = [cell.partition("\n")[2].strip() for cell in re.split(r"(?m)^# %%", source)]
    # A cell may go on after an empty line.
    body = f"{body_source(exercise.forward)}\n\n"
    assert sum(f"{cell}\n\n".startswith(body) for cell in cells) == 1


@each
def test_the_notebook_has_a_blank_for_every_gradient(exercise: Exercise, project: Path) -> None:
    source = (project / f"notebooks/source/{exercise.notebook}.py").read_text(encoding="utf-8")
    for gradient in exercise.gradients:
        assert re.search(rf"(?m)^(\w+, )*{gradient}(, \w+)* = ", source), gradient
    ids = re.findall(r"(?m)^# answer: (\S+)$", source)
    assert len(ids) == len(set(ids))
    assert any(grade_id.startswith(f"{exercise.prefix}-") for grade_id in ids)


def test_every_exercise_stands_under_its_own_notebook() -> None:
    for notebook, group in NOTEBOOKS.items():
        assert {exercise.notebook for exercise in group} == {notebook}


def test_prefixes_are_unique_and_none_begins_another() -> None:
    prefixes = [f"{exercise.prefix}-" for exercise in EXERCISES]
    assert len(prefixes) == len(set(prefixes))
    for prefix in prefixes:
        assert [p for p in prefixes if p.startswith(prefix)] == [prefix]
