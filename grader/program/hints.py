"""The hints of a course, as `hints.toml` in its folder has them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

from grader.program.course import Course
from grader.program.course_file import CourseFile

FILE = "hints.toml"
"""Its name in a course's folder."""

Levels = Mapping[str, Mapping[str, Sequence[str]]]
"""Exercise ("ex1") -> gradient ("dcounts") -> Markdown texts, from nudge to nearly-there."""


@cache
def read_levels(course: Course) -> Levels:
    """The hints of every exercise of a course, in its order, read once a process.

    Raises:
        BadCourse: as `levels_in`, or there are hints for what nobody asks for.
    """
    file = CourseFile(course.folder / FILE)
    levels, asked = levels_in(file), {each.prefix: each.gradients for each in course.exercises}
    for prefix, table in levels.items():
        if prefix not in asked:
            raise file.bad(f"there is no exercise {prefix}; there are {', '.join(asked)}")
        for gradient in table:
            if gradient not in asked[prefix]:
                said = f"{prefix} asks for no {gradient}, so nobody would see its hints"
                raise file.bad(said)
    return {prefix: levels[prefix] for prefix in asked if prefix in levels}


def levels_in(file: CourseFile) -> Levels:
    """What `hints.toml` says, which may be of exercises that are not finished.

    It has a table `[ex1]` for each exercise, with a list of texts for each gradient.

    Raises:
        BadCourse: it holds something else.
    """
    for prefix, table in file.values.items():
        if not isinstance(table, dict):
            raise file.bad(f'`{prefix}` has to be a table, with lines `dx = ["..."]`')
        for gradient, texts in table.items():
            if not isinstance(texts, list) or not all(
                isinstance(t, str) and t.strip() for t in texts
            ):
                said = f"the hints for {gradient} have to be a list of texts"
                raise file.bad(said, f"[{prefix}]")
    return {
        prefix: {gradient: tuple(texts) for gradient, texts in table.items()}
        for prefix, table in file.values.items()
    }
