"""Which exercise's hints somebody wants who names a gradient."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from grader.close_names import nearest
from grader.exercises import EXERCISES
from grader.hint_levels import Levels


class NoSuchHint(Exception):
    """Nothing, or too much, is called that; the message is for the student."""


def which_hint(
    gradient: str, levels: Levels, latest: str | None = None, asked: str | None = None
) -> tuple[str, str]:
    """The exercise ("ex1") and the gradient ("dcounts") whose hints are wanted.

    Args:
        gradient: what the student wrote; the tensor's name, without the `d`, will do.
        levels: the hints there are.
        latest: the exercise whose cells ran last in this notebook, if any did.
        asked: the exercise the student named, if any.

    Raises:
        NoSuchHint: there are no hints of that name, or it is not clear which are meant.
    """
    if asked is not None and asked not in levels:
        raise NoSuchHint(f"There is no exercise {asked}; there are {', '.join(levels)}.")
    homes = _homes(gradient, levels)
    for exercise in (asked,) if asked is not None else (latest, *_beside(latest)):
        if exercise is not None and exercise in homes:
            return exercise, homes[exercise]
    if asked is None and len(homes) == 1:
        return next(iter(homes.items()))
    if asked is None and homes:
        calls = " or ".join(f'hint("{name}", "{exercise}")' for exercise, name in homes.items())
        raise NoSuchHint(f"Several exercises ask for {gradient}: call {calls}.")
    known = levels[asked or latest or EXERCISES[0].prefix]
    close = nearest(gradient, known) or list(known)
    where = f" in {asked}" if asked is not None else ""
    raise NoSuchHint(f"There is no hint for {gradient}{where}; there is for {', '.join(close)}.")


def _homes(gradient: str, levels: Levels) -> Mapping[str, str]:
    """The exercises that have hints for the gradient, each with the name they stand under."""
    return {
        exercise: name
        for exercise, hints in levels.items()
        for name in (gradient, f"d{gradient}")
        if name in hints
    }


def _beside(latest: str | None) -> Sequence[str]:
    """The exercises of the same notebook."""
    notebooks = {exercise.notebook for exercise in EXERCISES if exercise.prefix == latest}
    return [exercise.prefix for exercise in EXERCISES if exercise.notebook in notebooks]
