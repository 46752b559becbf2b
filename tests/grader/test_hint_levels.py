from pathlib import Path

import pytest

from grader.exercises import EXERCISES, Exercise
from grader.hint_levels import read_levels


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda exercise: exercise.prefix)
def test_every_gradient_has_three(exercise: Exercise) -> None:
    levels = read_levels()[exercise.prefix]
    assert set(levels) == set(exercise.gradients)
    assert all(len(texts) == 3 and all(map(str.strip, texts)) for texts in levels.values())


def test_there_is_no_exercise_but_the_courses() -> None:
    assert set(read_levels()) == {exercise.prefix for exercise in EXERCISES}


def test_another_folder(tmp_path: Path) -> None:
    tmp_path.joinpath("ex5.toml").write_text('[da]\nhints = ["Größe", "two"]\n', encoding="utf-8")
    assert read_levels(tmp_path) == {"ex5": {"da": ("Größe", "two")}}
