"""The hints of a course, and what is said of a `hints.toml` that cannot be meant."""

from __future__ import annotations

from pathlib import Path

import pytest

from corpus.readers.lecture_course import COURSE, EXERCISES
from grader.program.course import read_course
from grader.program.course_file import BadCourse, CourseFile
from grader.program.exercises import Exercise
from grader.program.hints import levels_in, read_levels
from tests.helpers.small_course import write_course


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda exercise: exercise.prefix)
def test_every_gradient_has_three(exercise: Exercise) -> None:
    levels = read_levels(COURSE)[exercise.prefix]
    assert set(levels) == set(exercise.gradients)
    assert all(len(texts) == 3 and all(map(str.strip, texts)) for texts in levels.values())


def test_there_is_no_exercise_but_the_courses() -> None:
    assert set(read_levels(COURSE)) == {exercise.prefix for exercise in EXERCISES}


def test_another_course(tmp_path: Path) -> None:
    course = read_course(write_course(tmp_path, hints='[n1]\ndx = ["Größe", "two"]\n'))
    assert read_levels(course) == {"n1": {"dx": ("Größe", "two")}}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[n1", " is not TOML: "),
        ('[n1]\ndx = ["a"]\n\n[n2]\ndx = ["a"]\n', ": there is no exercise n2"),
        ("n1 = 3", ": `n1` has to be a table, "),
        ('[n1]\ndx = ["a"]\ndy = ["a"]', ": n1 asks for no dy, "),
        ('[n1]\ndx = "a"', ", [n1]: the hints for dx have to be a list of texts."),
        ('[n1]\ndx = ["a", " "]', ", [n1]: the hints for dx have to be a list of texts."),
    ],
)
def test_bad_hints_get_a_sentence_with_the_key(text: str, says: str, tmp_path: Path) -> None:
    course = read_course(write_course(tmp_path, hints=text))
    with pytest.raises(BadCourse) as error:
        read_levels(course)
    assert str(error.value).startswith(f"{tmp_path / 'hints.toml'}{says}")


def test_hints_of_exercises_that_are_not_finished_can_be_read(tmp_path: Path) -> None:
    (tmp_path / "hints.toml").write_text('[n2]\ndz = ["a"]\n', encoding="utf-8")
    assert levels_in(CourseFile(tmp_path / "hints.toml")) == {"n2": {"dz": ("a",)}}
