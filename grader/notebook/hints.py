"""The hints of the course: which one is meant, and the next one."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

from grader.close_names import SLIP, did_you_mean
from grader.notebook.state import State, read_state, update_state
from grader.printable import listed
from grader.program.course import Course
from grader.program.course_file import CourseFile

FILE = "hints.toml"
"""Its name in a course's folder."""

MOST_NAMED = 6
"""So many gradients of an exercise are named where none that is asked for is like any of them."""

Levels = Mapping[str, Mapping[str, Sequence[str]]]
"""Exercise ("ex1") -> gradient ("dcounts") -> Markdown texts, from nudge to nearly-there."""


@dataclass(frozen=True, slots=True)
class Hint:
    """What to show to a student who asked for a hint.

    `level` is the highest asked for so far, of `levels`. `texts` are what to show now, Markdown:
    one, or all of them where there is `no_more`. `trouble` is a sentence why this could not be
    remembered, or "".
    """

    gradient: str
    level: int
    levels: int
    texts: Sequence[str]
    no_more: bool = False
    trouble: str = ""


class NoSuchHint(Exception):
    """Nothing, or too much, is called that; the message is for the student."""


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
                said = f"{prefix} asks for no {gradient}, so nobody can ask for its hints"
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


def homes_of(name: str, levels: Levels) -> dict[str, str]:
    """The exercises that ask for a gradient, with its whole name: the `d` may be left out."""
    return {
        exercise: gradient
        for exercise, hints in levels.items()
        for gradient in (name, f"d{name}")
        if gradient in hints
    }


def which_hint(
    gradient: str,
    levels: Levels,
    notebooks: Mapping[str, str],
    latest: str | None,
    asked: str | None,
) -> tuple[str, str]:
    """The exercise ("ex1") and the gradient ("dcounts") whose hints are wanted.

    Args:
        gradient: what the student wrote.
        levels: the hints there are.
        notebooks: the notebook of each exercise.
        latest: the exercise whose cells ran last in this notebook, if any did.
        asked: the exercise the student named, if any.

    Raises:
        NoSuchHint: there are no hints of that name, or it is not clear which are meant.
    """
    if asked is not None and asked not in levels:
        raise NoSuchHint(f"There is no exercise {asked}; there are {', '.join(levels)}.")
    homes = homes_of(gradient, levels)
    here = notebooks.get(latest or "")
    beside = [exercise for exercise, notebook in notebooks.items() if notebook == here]
    for exercise in (asked,) if asked is not None else (latest, *beside):
        if exercise is not None and exercise in homes:
            return exercise, homes[exercise]
    if asked is None and len(homes) == 1:
        return next(iter(homes.items()))
    if asked is None and homes:
        calls = listed((f'hint("{name}", "{exercise}")' for exercise, name in homes.items()), "or")
        raise NoSuchHint(f"Several exercises ask for {gradient}: call {calls}.")
    known = levels[asked or latest or next(iter(levels))]
    some = f"there is for {listed(known, most=MOST_NAMED)}."
    where = f" in {asked}" if asked is not None else ""
    meant = did_you_mean([gradient], known, SLIP) or some
    raise NoSuchHint(f"There is no hint for {gradient}{where}; {meant}")


def ask(course: Course, exercise: str, gradient: str) -> Hint:
    """One hint more for a gradient, remembered; after the last all of them.

    Raises:
        KeyError: the course has no such gradient; `read_levels` says which there are.
    """
    texts, own = read_levels(course)[exercise][gradient], course.remembered(exercise)

    def one_more(old: State) -> State:
        level = min(_asked(old, own, gradient) + 1, len(texts))
        return replace(old, asked={**old.asked, own: {**old.asked.get(own, {}), gradient: level}})

    before, trouble = update_state(one_more)
    asked = _asked(before, own, gradient)
    level, no_more = min(asked + 1, len(texts)), asked >= len(texts)
    shown = texts if no_more else texts[level - 1 : level]
    return Hint(gradient, level, len(texts), shown, no_more, trouble)


def review(course: Course, exercise: str, gradient: str) -> Hint:
    """What has been asked for already, none more. Raises KeyError as `ask` does."""
    state, trouble = read_state()
    texts = read_levels(course)[exercise][gradient]
    level = min(_asked(state, course.remembered(exercise), gradient), len(texts))
    return Hint(gradient, level, len(texts), texts[:level], trouble=trouble)


def forget(course: Course, exercise: str, gradients: Collection[str]) -> str:
    """Begin anew with the hints of some gradients of an exercise.

    Returns:
        A sentence why it was not possible, or "".
    """

    own = course.remembered(exercise)

    def without(old: State) -> State:
        asked = old.asked.get(own, {})
        kept = {gradient: level for gradient, level in asked.items() if gradient not in gradients}
        return replace(old, asked={**old.asked, own: kept} if asked else old.asked)

    return update_state(without)[1]


def _asked(state: State, exercise: str, gradient: str) -> int:
    """How often a hint was asked for: the course may have had more of them before."""
    return state.asked.get(exercise, {}).get(gradient, 0)
