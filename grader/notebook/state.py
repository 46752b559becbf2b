"""What the course remembers of a student between two sessions: one file."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from grader.verdict import Outcome, Report
from grader.whole_file import is_format, why, write_whole

if TYPE_CHECKING:
    from grader.program.course import Course

VARIABLE = "BACKPROP_NINJA_STATE"
"""The environment variable that names another folder for the file."""

FILE = "state.json"
FORMAT = 1
LOCK_ATTEMPTS = 150
LOCK_PAUSE_SECONDS = 0.02

Asked = Mapping[str, Mapping[str, int]]
"""Exercise ("ex1") -> gradient ("dcounts") -> how many of its hints were asked for."""


@dataclass(frozen=True, slots=True)
class State:
    """The hints asked for; how many gradients of each exercise ("ex1") passed when last checked."""

    asked: Asked = field(default_factory=dict)
    passed: Mapping[str, int] = field(default_factory=dict)


def remember_passed(passed: Mapping[str, int]) -> None:
    """Note how many gradients of exercises pass; where that cannot be written, let it be."""
    update_state(lambda old: replace(old, passed={**old.passed, **passed}))


def remember_report(report: Report, course: Course) -> None:
    """Note how many gradients pass of each exercise in a notebook that was judged whole."""
    right = {verdict.name for verdict in report.verdicts if verdict.outcome is Outcome.PASS}
    passed = {
        course.remembered(exercise.prefix): len(right.intersection(exercise.gradients))
        for exercise in course.outlines(report.notebook)
    }
    remember_passed(passed)


def read_state() -> tuple[State, str]:
    """What is remembered, and a sentence where that is not known, or "".

    A damaged file is moved aside, for whoever wants to mend it.
    """
    path = _folder() / FILE
    try:
        return parse_state(path.read_text(encoding="utf-8")), ""
    except (FileNotFoundError, NotADirectoryError):
        return State(), ""
    except OSError as error:
        said = f"{path} cannot be read{why(error)}."
    except (ValueError, RecursionError):
        said = f"{path} is damaged. {_keep_aside(path)}Counting begins again at the first hint."
    return State(), f"Which hints you have seen is not known: {said}"


def update_state(change: Callable[[State], State]) -> tuple[State, str]:
    """Change what is remembered; where that changes nothing, nothing is written.

    Returns:
        What was remembered before, and a sentence why it is not known or cannot be changed, or "".
    """
    before, trouble = read_state()
    if change(before) == before:
        return before, trouble
    path = _folder() / FILE
    try:
        with _alone(path.parent):
            before, again = read_state()  # another process may have written meanwhile
            after = change(before)
            document = {"format": FORMAT, "asked": after.asked, "passed": after.passed}
            text = json.dumps(document, indent=1, sort_keys=True) + "\n"
            write_whole(path, text, private=True)
    except OSError as error:
        return before, f"That you asked is not remembered: {path} cannot be written{why(error)}."
    return before, trouble or again


def parse_state(text: str) -> State:
    """What a state file says.

    Raises:
        ValueError: it says nothing that makes sense.
    """
    document = json.loads(text)
    if not isinstance(document, dict) or not is_format(document.get("format"), FORMAT):
        raise ValueError("another format")
    asked, passed = document.get("asked"), document.get("passed", {})
    if not isinstance(asked, dict):
        raise ValueError("no table of what was asked")
    for counts in (passed, *asked.values()):
        if not isinstance(counts, dict):
            raise ValueError("no table of counts")
        if not all(type(count) is int and count >= 0 for count in counts.values()):
            raise ValueError("a count that is no number")
    return State(asked, passed)


def _folder() -> Path:
    """Where the file is; the folder need not exist yet."""
    if named := os.environ.get(VARIABLE):
        return Path(named)
    # Imported here: a notebook that never asks for a hint need not wait for it.
    import platformdirs

    return platformdirs.user_state_path("backprop-ninja", appauthor=False)


def _keep_aside(path: Path) -> str:
    aside = path.with_name(f"{path.stem}.damaged-{time.time_ns()}{path.suffix}")
    try:
        path.replace(aside)
    except OSError:
        return ""
    return f"It is kept as {aside.name}. "


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Let no other process change the file meanwhile, where the system can tell."""
    folder.mkdir(parents=True, exist_ok=True)
    try:
        import fcntl

        lock = os.open(folder, os.O_RDONLY)
    except (ImportError, OSError):  # Windows has no such lock, and some network drives neither
        yield
        return
    try:
        for _ in range(LOCK_ATTEMPTS):
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                time.sleep(LOCK_PAUSE_SECONDS)
            except OSError:
                break
        yield
    finally:
        os.close(lock)
