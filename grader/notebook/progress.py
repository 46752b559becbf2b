"""How many gradients of each exercise passed when they were last checked on this machine."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from grader.verdict import Outcome, Report
from grader.whole_file import is_format, write_whole

if TYPE_CHECKING:
    from grader.program.course import Course

VARIABLE = "BACKPROP_NINJA_STATE"
"""The environment variable that names another folder for the file."""

FILE = "state.json"
FORMAT = 1


def remember_passed(passed: Mapping[str, int]) -> None:
    """Note how many gradients of exercises pass; if that cannot be written, let it be."""
    before = read_passed()
    after = {**before, **passed}
    if after != before:
        path = _folder() / FILE
        text = json.dumps({"format": FORMAT, "passed": after}, indent=1, sort_keys=True)
        with suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, f"{text}\n", private=True)


def remember_report(report: Report, course: Course) -> None:
    """Note how many gradients pass of each exercise in a notebook that was judged whole."""
    right = {verdict.name for verdict in report.verdicts if verdict.outcome is Outcome.PASS}
    passed = {
        course.remembered(exercise.prefix): len(right.intersection(exercise.gradients))
        for exercise in course.outlines(report.notebook)
    }
    remember_passed(passed)


def read_passed() -> dict[str, int]:
    """How many gradients pass, by exercise ("ex1"); a file that makes no sense says nothing."""
    try:
        document = json.loads((_folder() / FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    if not isinstance(document, dict) or not is_format(document.get("format"), FORMAT):
        return {}
    passed = document.get("passed")
    items = passed.items() if isinstance(passed, dict) else ()
    return {exercise: count for exercise, count in items if type(count) is int and count >= 0}


def _folder() -> Path:
    """Where the file is; the folder need not exist yet."""
    if named := os.environ.get(VARIABLE):
        return Path(named)
    # Imported here: only what checks or shows a board needs it.
    import platformdirs

    return platformdirs.user_state_path("backprop-ninja", appauthor=False)
