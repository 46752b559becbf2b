"""How far a student has asked for hints, remembered between two commands."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from grader.hint_levels import Levels, read_levels
from grader.state_folder import state_folder, write_whole

FILE = "hints.json"
FORMAT = 1
LOCK_ATTEMPTS = 150
LOCK_PAUSE_SECONDS = 0.02

Asked = Mapping[str, Mapping[str, int]]
"""Exercise ("ex1") -> gradient ("dcounts") -> how many of its hints were asked for."""


@dataclass(frozen=True, slots=True)
class Hint:
    """What to show to somebody who asked for a hint.

    `level` is the highest asked for so far, of `levels`. `texts` are what to show now, Markdown:
    one, or all of them where there is `no_more`. `trouble` is a sentence why this could not be
    remembered, or "".
    """

    exercise: str
    gradient: str
    level: int
    levels: int
    texts: tuple[str, ...]
    no_more: bool = False
    trouble: str = ""


class CannotRemember(Exception):
    """The state folder or the file in it is of no use; the message is a sentence."""


def next_hint(asked: Asked, levels: Levels, exercise: str, gradient: str) -> tuple[Hint, Asked]:
    """One hint more, with what has been asked for then."""
    texts = levels[exercise][gradient]
    before = asked.get(exercise, {}).get(gradient, 0)
    level = min(before + 1, len(texts))
    no_more = before >= len(texts)
    shown = texts if no_more else texts[level - 1 : level]
    hint = Hint(exercise, gradient, level, len(texts), shown, no_more)
    return hint, {**asked, exercise: {**asked.get(exercise, {}), gradient: level}}


def earlier_hints(asked: Asked, levels: Levels, exercise: str, gradient: str) -> Hint:
    """What has been asked for already, none more."""
    texts = levels[exercise][gradient]
    level = min(asked.get(exercise, {}).get(gradient, 0), len(texts))
    return Hint(exercise, gradient, level, len(texts), texts[:level])


def without(asked: Asked, exercise: str, gradients: Collection[str] | None = None) -> Asked:
    """What is left when the hints of an exercise, or of some of its gradients, are forgotten."""
    kept = {
        gradient: level
        for gradient, level in asked.get(exercise, {}).items()
        if gradients is not None and gradient not in gradients
    }
    others = {name: levels for name, levels in asked.items() if name != exercise}
    return {**others, exercise: kept} if kept else others


def ask(exercise: str, gradient: str) -> Hint:
    """One hint more for a gradient, remembered.

    Raises:
        KeyError: the course has no such gradient; `read_levels()` says which there are.
    """
    levels = read_levels()
    levels[exercise][gradient]
    path = state_folder() / FILE
    try:
        with _alone(path.parent):
            asked, trouble = _read(path)
            hint, asked = next_hint(asked, levels, exercise, gradient)
            _write(asked, path)
    except CannotRemember as error:
        asked, _ = _read(path)
        hint, _ = next_hint(asked, levels, exercise, gradient)
        trouble = str(error)
    return replace(hint, trouble=trouble)


def review(exercise: str, gradient: str) -> Hint:
    """What has been asked for already, none more. Raises KeyError as `ask` does."""
    asked, trouble = _read(state_folder() / FILE)
    return replace(earlier_hints(asked, read_levels(), exercise, gradient), trouble=trouble)


def forget(exercise: str, gradients: Collection[str] | None = None) -> str:
    """Begin anew with the hints of an exercise, or of some of its gradients.

    Returns:
        A sentence why it was not possible, or "".
    """
    path = state_folder() / FILE
    if not path.exists():
        return ""
    try:
        with _alone(path.parent):
            asked, trouble = _read(path)
            kept = without(asked, exercise, gradients)
            if kept != asked or trouble:
                _write(kept, path)
    except CannotRemember as error:
        return str(error)
    return trouble


def parse_memory(text: str) -> Asked:
    """What a state file says.

    Raises:
        ValueError: it says nothing that makes sense.
    """
    document = json.loads(text)
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise ValueError("another format")
    asked = document.get("asked")
    if not isinstance(asked, dict):
        raise ValueError("no table of what was asked")
    for levels in asked.values():
        if not isinstance(levels, dict):
            raise ValueError("no table for an exercise")
        if not all(type(level) is int and level >= 0 for level in levels.values()):
            raise ValueError("a level that is no number")
    return asked


def _read(path: Path) -> tuple[Asked, str]:
    """What was asked for before, and a sentence where that is not known."""
    try:
        return parse_memory(path.read_text(encoding="utf-8")), ""
    except (FileNotFoundError, NotADirectoryError):
        return {}, ""
    except OSError as error:
        return {}, f"Which hints you have seen is not known: {path} cannot be read{_why(error)}."
    except (ValueError, RecursionError):
        kept = _keep_aside(path)
        return {}, (
            f"Which hints you have seen is not known: {path} is damaged. "
            f"{kept}Counting begins again at the first hint."
        )


def _keep_aside(path: Path) -> str:
    """Move a damaged file out of the way, for whoever wants to mend it."""
    aside = path.with_name(f"{path.stem}.damaged-{time.time_ns()}{path.suffix}")
    try:
        path.replace(aside)
    except OSError:
        return ""
    return f"It is kept as {aside.name}. "


def _write(asked: Asked, path: Path) -> None:
    text = json.dumps({"format": FORMAT, "asked": asked}, indent=1, sort_keys=True) + "\n"
    try:
        write_whole(path, text)
    except OSError as error:
        raise CannotRemember(_not_remembered(path, error)) from error


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Let no other process change the memory meanwhile, where the system can tell."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CannotRemember(_not_remembered(folder, error)) from error
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


def _not_remembered(path: Path, error: OSError) -> str:
    return f"That you asked is not remembered: {path} cannot be written{_why(error)}."


def _why(error: OSError) -> str:
    return f" ({error.strerror.lower()})" if error.strerror else ""
