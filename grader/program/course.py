"""A course: a folder with a `course.toml` that lists exercises, their forward functions, hints."""

# Nothing here runs a forward function or imports torch: the process that keeps the books of a
# class need only know what is asked for.

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from grader.close_names import did_you_mean
from grader.printable import printable, there_are
from grader.user_error import UserError

FILE, HINTS_FILE, SOLVED = "course.toml", "hints.toml", "solved.json"

BUILT_IN = Path(str(files("makemore_data"))) / "course"
"""The folder of the course that comes with the grader."""

Hints = Mapping[str, Mapping[str, Sequence[str]]]
"""Exercise ("ex1") -> gradient ("dcounts") -> Markdown texts, from nudge to nearly-there."""


class BadCourse(UserError):
    """A course cannot be used; the message names the file and says what to mend."""


@dataclass(frozen=True, slots=True)
class Outline:
    """An exercise as `course.toml` describes it, before its forward function is run.

    `file` and `function` say where the forward function is, and each gradient is worth `points`.
    `as_lecture` marks an exercise of the lecture's own notebook, in which whatever the lecture's
    `cmp` accepts passes.
    """

    prefix: str
    notebook: str
    file: str
    function: str
    gradients: tuple[str, ...]
    sizes: tuple[tuple[str, int], ...]
    called: tuple[tuple[str, str], ...] = ()
    points: int = 1
    as_lecture: bool = field(default=False, repr=False)  # a digest is made of all that is shown


@dataclass(frozen=True, slots=True)
class Course:
    """The contents of a course's folder, at the time when it was read.

    `sources` holds the names and texts of the files with forward functions, so that a course can be
    sent to another machine. The hints stay in `folder` and are read only on request. `solved` maps
    each notebook to the fingerprint of its shipped solution, by which a copy of it is recognised.
    """

    folder: Path
    title: str
    repository: str
    exercises: tuple[Outline, ...]
    sources: tuple[tuple[str, str], ...]
    solved: tuple[tuple[str, str], ...] = ()

    @property
    def notebooks(self) -> tuple[str, ...]:
        """The names of the notebooks, in the order of the course."""
        return tuple(dict.fromkeys(outline.notebook for outline in self.exercises))

    @property
    def notebook_of(self) -> dict[str, str]:
        """The notebook of each exercise: `{"ex1": "01_atomic_backprop", ...}`."""
        return {outline.prefix: outline.notebook for outline in self.exercises}

    @property
    def digest(self) -> str:
        """A digest that changes whenever the course asks for, or computes, something else."""
        said = repr((self.exercises, self.sources))
        return hashlib.sha256(said.encode("utf-8")).hexdigest()

    def outlines(self, notebook: str) -> tuple[Outline, ...]:
        """The exercises of a notebook, or none if the course does not have this notebook."""
        return tuple(outline for outline in self.exercises if outline.notebook == notebook)

    def gradients(self, notebook: str) -> tuple[tuple[str, str], ...]:
        """The gradients of a notebook as pairs: the prefix of the exercise, then the gradient."""
        outlines = self.outlines(notebook)
        return tuple((each.prefix, gradient) for each in outlines for gradient in each.gradients)

    def notebook_called(self, text: str) -> str:
        """Find the notebook by its name, by its file's name or by its number.

        For example "02_fused_cross_entropy", "02_fused_cross_entropy.ipynb", "02", "2".

        Raises:
            ValueError: the course has no such notebook; the message is a sentence.
        """
        text = text.strip()
        for notebook in self.notebooks:
            number = number_of(notebook)
            if text in (notebook, f"{notebook}.ipynb") or (
                number.isdecimal() and text.lstrip("0") == number.lstrip("0")
            ):
                return notebook
        meant = did_you_mean([text], self.notebooks) or f"{there_are(self.notebooks)}."
        raise ValueError(f"there is no notebook {printable(text)!r} in the course; {meant}")


def number_of(notebook: str) -> str:
    """The short name of a notebook: "01" for 01_atomic_backprop."""
    return notebook.partition("_")[0]


@cache
def built_in_course() -> Course:
    """The course that comes with the grader."""
    return read_course(BUILT_IN)


def read_course(folder: Path) -> Course:
    """Read a course's folder without running anything in it.

    Raises:
        BadCourse: something is missing, or cannot be what the author meant.
    """
    path, where = folder / FILE, ""
    values, outlines = read_toml(path), list[Outline]()
    try:
        _check(values, _COURSE, "a course")
        for number, table in enumerate(values["exercise"], start=1):
            where = f", exercise {number}"  # its id may be what is wrong
            outlines.append(_outline(table, outlines))
    except ValueError as error:
        raise BadCourse(f"{path}{where}: {error}.") from None
    names = dict.fromkeys(outline.file for outline in outlines)
    sources = tuple((name, read_text(folder / name)) for name in names)
    repository = values.get("repository", "")
    solved = tuple(read_solved(folder / SOLVED).items())
    return Course(folder, values["title"], repository, tuple(outlines), sources, solved)


def read_solved(path: Path) -> dict[str, str]:
    """Read the fingerprints that `grader build` wrote, if the course has any."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return {str(key): str(value) for key, value in found.items()} if isinstance(found, dict) else {}


def read_hints(path: Path) -> Hints:
    """Read a course's hints. They may belong to exercises that the author has not finished yet.

    The file has a table `[ex1]` for each exercise, with a list of texts for each gradient.

    Raises:
        BadCourse: the file contains something else.
    """
    hints: Hints = read_toml(path)
    for prefix, table in hints.items():
        if not isinstance(table, dict):
            raise BadCourse(f'{path}: `{prefix}` has to be a table, with lines `dx = ["..."]`.')
        for gradient, texts in table.items():
            if not isinstance(texts, list) or not all(map(_is_like(r"(?s).*\S.*"), texts)):
                said = f"the hints for {gradient} have to be a list of texts"
                raise BadCourse(f"{path}, [{prefix}]: {said}.")
    return hints


def read_toml(path: Path) -> dict[str, Any]:
    """Read one of a course's TOML files.

    Raises:
        BadCourse: the file is missing, or is not TOML.
    """
    try:
        return tomllib.loads(read_text(path))
    except (ValueError, RecursionError) as error:  # also a number of 5,000 digits
        raise BadCourse(f"{path} is not TOML: {error}.") from None


def read_text(path: Path) -> str:
    """Read one of a course's files as text.

    Raises:
        BadCourse: the file is missing, or is not text.
    """
    try:
        return path.read_text(encoding="utf-8")
    except (FileNotFoundError, NotADirectoryError):
        raise BadCourse(f"{path} is missing, which a course has to have.") from None
    except (OSError, UnicodeDecodeError) as error:
        raise BadCourse(f"{path} cannot be read as text: {error}.") from None


def _outline(table: Mapping[str, Any], before: Sequence[Outline]) -> Outline:
    """Read one exercise of `course.toml`; ValueError if it is bad or clashes with one `before`."""
    _check(table, _EXERCISE, "an exercise")
    name, _, function = table["forward"].partition(":")
    gradients, sizes = tuple(table["gradients"]), tuple(table["sizes"].items())
    prefix, notebook = table["id"], table["notebook"]
    called = tuple(table.get("called", {}).items())
    for other in before:
        if other.prefix == prefix:
            raise ValueError(f"{prefix} is the id of an exercise before")
        twice = [gradient for gradient in gradients if gradient in other.gradients]
        if twice and other.notebook == notebook:
            said = f"{twice[0]} is asked for by another exercise of {notebook} already"
            raise ValueError(said)
    return Outline(
        prefix, notebook, name, function, gradients, sizes, called, table.get("points", 1)
    )


def _check(table: Mapping[str, Any], keys: Mapping[str, _Key], what: str) -> None:
    """Raise ValueError for an unknown key, or a value that does not fit its key."""
    for key in table:
        if key not in keys:
            raise ValueError(f"`{key}` is not a key of {what}: it has {', '.join(keys)}")
    for key, (fits, meant) in keys.items():
        if not (fits(table[key]) if key in table else key in _OPTIONAL):
            raise ValueError(f"`{key}` has to be {meant}")


def _is_like(expression: str) -> Callable[[object], bool]:
    return lambda value: isinstance(value, str) and re.fullmatch(expression, value) is not None


def _is_count(value: object) -> bool:
    return type(value) is int and value > 0


def _are_tables(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(t, dict) for t in value)


def _are_gradients(value: object) -> bool:
    if not isinstance(value, list) or not value:
        return False
    return all(map(_is_like(r"d\w+"), value)) and len({*value}) == len(value)


def _are_sizes(value: object) -> bool:
    return isinstance(value, dict) and all(map(_is_count, value.values()))


def _are_names(value: object) -> bool:
    return isinstance(value, dict) and all(map(_is_like(r".+"), value.values()))


_Key = tuple[Callable[[object], bool], str]
"""Which values fit a key, and the words for them."""

_COURSE: Mapping[str, _Key] = {
    "title": (_is_like("(?s).*"), "a text"),
    "repository": (_is_like("(?s).*"), "a text"),
    "exercise": (_are_tables, "one table `[[exercise]]` or more"),
}
_EXERCISE: Mapping[str, _Key] = {
    "id": (_is_like(r"[A-Za-z]{1,20}\d{1,9}[a-z]?"), 'letters and a number, such as "ex1"'),
    "notebook": (_is_like(r"[\w-]+"), 'a name without .ipynb, such as "01_rms_norm"'),
    "forward": (
        _is_like(r"[\w-]+\.py:[A-Za-z_]\w*"),
        'a file of the folder and a function in it, such as "forward.py:rms_norm"',
    ),
    "gradients": (_are_gradients, 'a list such as ["dx", "dgain"], each name once'),
    "sizes": (_are_sizes, "a table such as { n = 32, d = 10 }"),
    "called": (_are_names, 'a table such as { batch_size = "n" }'),
    "points": (_is_count, "a whole number from 1"),
}
_OPTIONAL = ("repository", "called", "points")
