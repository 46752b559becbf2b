"""`class.toml`: the options with which a gradebook was made, so that the next run can use them."""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from grader.close_names import did_you_mean
from grader.printable import listed, printable
from grader.submission.notebook_file import shown
from grader.user_error import UserError
from grader.whole_file import write_whole

SETTINGS = "class.toml"

_FILES = ("roster", "adjustments", "rubric")
REMEMBERED = (
    *_FILES,
    *("roster_columns", "due", "file_times", "due_notebooks", "attempts", "scale", "canvas_column"),
    *("course", "sandbox"),
)
"""The names of the options of `grader grade` that are kept."""

_HEAD = """\
# How this gradebook was made. `grader grade FOLDER --out DIR` uses these options again. An option
# that you give replaces its line; delete a line to do without it.
"""


class UnusableSettings(UserError):
    """The file cannot be read, or contains something that is not an option."""


def read_settings(gradebook: Path) -> dict[str, Any]:
    """Read the options with which the gradebook was made; none if there is no such file.

    Raises:
        UnusableSettings: the file cannot be used; the message is a sentence.
    """
    found = _settings_in(gradebook / SETTINGS)
    # The course may also be given as the name of an installed one.
    paths = {name for name in found if name in _FILES or (name == "course" and "/" in found[name])}
    whole = {name: os.path.normpath(gradebook.resolve() / found[name]) for name in paths}
    return found | whole


def _settings_in(path: Path) -> dict[str, Any]:
    try:
        found = tomllib.loads(path.read_text("utf-8-sig")) if path.is_file() else {}
    except (OSError, ValueError) as error:
        raise UnusableSettings(f"{shown(path)} cannot be read: {printable(str(error))}.") from None
    for name, value in found.items():
        if name not in REMEMBERED:
            meant = did_you_mean([name], REMEMBERED) or f"there are {listed(REMEMBERED)}."
            raise UnusableSettings(f"{shown(path)} says {printable(name)}, no option; {meant}")
        fits = bool if name == "file_times" else list if name == "canvas_column" else str
        if not isinstance(value, fits):
            raise UnusableSettings(f"{shown(path)}: {name} = {printable(str(value))} needs quotes.")
    return found


def write_settings(gradebook: Path, options: Mapping[str, Any]) -> None:
    """Replace the file, if the options are not those that it has."""
    said = {
        name: _seen_from(gradebook, value)
        for name in REMEMBERED
        if (value := options.get(name)) and _can_be_written(value)
    }
    if said != _settings_in(gradebook / SETTINGS):
        # A text, a list of them, true: in TOML they are what they are in JSON.
        lines = (
            f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in said.items()
        )
        write_whole(gradebook / SETTINGS, _HEAD + "\n".join([*lines, ""]))


def _seen_from(gradebook: Path, value: Any) -> Any:
    """Make a path below the gradebook's parent relative, so that both can be moved together."""
    if not isinstance(value, str) or not Path(value).is_absolute():
        return value
    place = Path(value).parent.resolve() / Path(value).name
    near = os.path.relpath(place, gradebook.resolve())
    if near.startswith("../.."):
        return value
    return near if near.startswith("../") else f"./{near}"


def _can_be_written(value: object) -> bool:
    """False for a path whose name is not text."""
    return all(map(str.isprintable, value if isinstance(value, list) else [str(value)]))


def settings_files(gradebook: Path) -> Iterator[Path]:
    """The files from which the gradebook was made, including the file of the options itself."""
    said = read_settings(gradebook)
    yield from (Path(said[name]) for name in _FILES if name in said)
    yield gradebook / SETTINGS
