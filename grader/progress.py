"""How far a student has come in each exercise, as the notebooks last saw it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from grader.exercises import EXERCISES, NOTEBOOKS
from grader.state_folder import state_folder, write_whole

FOLDER = "progress"
FORMAT = 1


def remember(exercise: str, passed: int) -> None:
    """Note how many of an exercise's gradients pass; where that cannot be written, let it be.

    A file an exercise, so that notebooks that run at the same time do not get in each other's way.
    """
    path = _path(exercise)
    if _read(path) == passed:
        return
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, json.dumps({"format": FORMAT, "passed": passed}) + "\n")


def recall() -> dict[str, int]:
    """How many gradients passed when each exercise ("ex1") was last checked, where one was."""
    found = {exercise.prefix: _read(_path(exercise.prefix)) for exercise in EXERCISES}
    return {
        exercise.prefix: passed
        for exercise in EXERCISES
        # A file may be an older course's, with more gradients than there are now.
        if (passed := found[exercise.prefix]) is not None and passed <= len(exercise.gradients)
    }


def by_notebook(passed: Mapping[str, int]) -> dict[str, tuple[int, int]]:
    """How many gradients pass, of how many, in each notebook that anything is known of.

    >>> by_notebook({"ex2": 1})
    {'02_fused_cross_entropy': (1, 2)}
    """
    return {
        notebook: (
            sum(passed.get(exercise.prefix, 0) for exercise in exercises),
            sum(len(exercise.gradients) for exercise in exercises),
        )
        for notebook, exercises in NOTEBOOKS.items()
        if any(exercise.prefix in passed for exercise in exercises)
    }


def _path(exercise: str) -> Path:
    return state_folder() / FOLDER / f"{exercise}.json"


def _read(path: Path) -> int | None:
    """What a file says, or None where there is none or it makes no sense."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        return None
    passed = document.get("passed")
    return passed if type(passed) is int and passed >= 0 else None
