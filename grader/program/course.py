"""A course: a folder with exercises in `course.toml` and their forward functions."""

# Nothing here runs a forward function or imports torch: `grader hint`, and the process that keeps
# the books of a class, need only know what is asked for.

from __future__ import annotations

import ast
import hashlib
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from grader.user_error import UserError

FILE = "course.toml"

BUILT_IN = Path(str(files("makemore_data"))) / "course"
"""The folder of the course that comes with the grader."""

_KEYS = ("title", "repository", "exercise")
_NEEDED = ("id", "notebook", "forward", "gradients", "sizes")
_PREFIX = re.compile(r"[A-Za-z]{1,20}\d{1,9}[a-z]?")
_FORWARD = re.compile(r"([\w-]+\.py):([A-Za-z_]\w*)")


class BadCourse(UserError):
    """A course that cannot be used; the message names the file, the line and what to mend."""


@dataclass(frozen=True, slots=True)
class Outline:
    """An exercise as `course.toml` tells it, before its forward function is run.

    `file` and `function` say where the forward function stands; each gradient is worth `points`.
    """

    prefix: str
    notebook: str
    file: str
    function: str
    gradients: tuple[str, ...]
    sizes: tuple[tuple[str, int], ...]
    points: int = 1


@dataclass(frozen=True, slots=True)
class Course:
    """What a course's folder said when it was read.

    `sources` are the names and texts of the files with forward functions, so that a course can be
    sent to another machine. Hints and blank cells stay in `folder`, for those who ask for them.
    """

    folder: Path
    title: str
    repository: str
    exercises: tuple[Outline, ...]
    sources: tuple[tuple[str, str], ...]

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
        """What tells this course from one that asks for, or computes, something else."""
        said = repr((self.exercises, self.sources))
        return hashlib.sha256(said.encode("utf-8")).hexdigest()

    def remembered(self, prefix: str) -> str:
        """The name under which an exercise is remembered, which no other course's has."""
        return prefix if self.folder == BUILT_IN else f"{self.title}/{prefix}"

    def outlines(self, notebook: str) -> tuple[Outline, ...]:
        """The exercises of a notebook; none where the course does not have it."""
        return tuple(outline for outline in self.exercises if outline.notebook == notebook)

    def gradients(self, notebook: str) -> tuple[tuple[str, str], ...]:
        """The gradients of a notebook, each behind the prefix of its exercise."""
        outlines = self.outlines(notebook)
        return tuple((each.prefix, gradient) for each in outlines for gradient in each.gradients)


@cache
def built_in_course() -> Course:
    """The course that comes with the grader."""
    return read_course(BUILT_IN)


def read_course(folder: Path) -> Course:
    """Read a course's folder without running anything in it.

    Raises:
        BadCourse: something is missing or cannot be meant.
    """
    path = folder / FILE
    document = Document(path, read_text(path))
    for key in document.values:
        if key not in _KEYS:
            raise document.bad(f"`{key}` is no key of a course: it has {', '.join(_KEYS)}", key)
    tables = document.values.get("exercise")
    if not isinstance(tables, list) or not tables:
        raise document.bad("the course has no exercise: write a table `[[exercise]]`", "exercise")
    outlines = tuple(_outline(document, number) for number in range(len(tables)))
    for number, outline in enumerate(outlines):
        if outline.prefix in [other.prefix for other in outlines[:number]]:
            raise document.bad(f"{outline.prefix} is the id of an exercise before", "id", number)
        beside = [o for o in outlines[:number] if o.notebook == outline.notebook]
        asked = {gradient for other in beside for gradient in other.gradients}
        if twice := [gradient for gradient in outline.gradients if gradient in asked]:
            said = f"{twice[0]} is asked for by another exercise of {outline.notebook} already"
            raise document.bad(said, "gradients", number)
    sources: dict[str, str] = {}
    for number, outline in enumerate(outlines):
        if outline.file not in sources:
            if not (folder / outline.file).is_file():
                raise document.bad(f"there is no {outline.file} in {folder}", "forward", number)
            sources[outline.file] = read_text(folder / outline.file)
        _check_function(document, number, outline, sources[outline.file])
    title, repository = document.text("title"), document.text("repository", default="")
    return Course(folder, title, repository, outlines, tuple(sources.items()))


def read_text(path: Path) -> str:
    """A course's file as text.

    Raises:
        BadCourse: it is missing, or no text.
    """
    try:
        return path.read_text(encoding="utf-8")
    except (FileNotFoundError, NotADirectoryError):
        raise BadCourse(f"{path} is missing, which a course has to have.") from None
    except (OSError, UnicodeDecodeError) as error:
        raise BadCourse(f"{path} cannot be read as text: {error}.") from None


class Document:
    """A TOML file whose values can be complained of with their line."""

    def __init__(self, path: Path, text: str) -> None:
        """Parse the text.

        Raises:
            BadCourse: it is not TOML.
        """
        self.path, self._lines = path, text.splitlines()
        try:
            self.values: dict[str, Any] = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            at = re.search(r" \(at (?:line (\d+), column \d+|end of document)\)\Z", str(error))
            line = int(at[1]) if at and at[1] else len(self._lines)
            said = str(error)[: at.start()] if at else str(error)
            raise BadCourse(f"{path}, line {line}: this is not TOML: {said.lower()}.") from None

    def bad(
        self, sentence: str, key: str, number: int | None = None, within: str = "exercise"
    ) -> BadCourse:
        """What to raise for the value of a key: at the top, or in the n-th table of a name."""
        return BadCourse(f"{self.path}, line {self.line_of(key, number, within)}: {sentence}.")

    def line_of(self, key: str, number: int | None, within: str) -> int:
        """The line of a key or a table, or else where the table, or the file, begins."""
        starts = [n for n, line in enumerate(self._lines, 1) if _is_header(line, within)]
        start, end = 1, len(self._lines) + 1
        if number is not None and number < len(starts):
            start, end = starts[number], [*starts, end][number + 1]
        for line in range(start, end):
            words = re.split(r"[\s=.\[\]]+", self._lines[line - 1].strip().strip("["))
            if key in words[:2] and not self._lines[line - 1].lstrip().startswith("#"):
                return line
        return start

    def text(self, key: str, number: int | None = None, default: str | None = None) -> str:
        """A value that has to be a text, at the top or of the n-th exercise."""
        table = self.values if number is None else self.values["exercise"][number]
        value = table.get(key, default)
        if not isinstance(value, str) or (default is None and not value.strip()):
            raise self.bad(f"`{key}` has to be a text", key, number)
        return value


def _is_header(line: str, name: str) -> bool:
    return re.match(rf"\s*\[+\s*{name}\s*\]", line) is not None


def _outline(document: Document, number: int) -> Outline:
    """The n-th exercise of `course.toml`, each of its values looked at."""
    table = document.values["exercise"][number]
    if not isinstance(table, Mapping):
        raise document.bad("an exercise is a table, `[[exercise]]`", "exercise", number)
    for key in table:
        if key not in (*_NEEDED, "points"):
            known = ", ".join((*_NEEDED, "points"))
            raise document.bad(f"`{key}` is no key of an exercise: it has {known}", key, number)
    for key in _NEEDED:
        if key not in table:
            raise document.bad(f"this exercise has no `{key}`", "exercise", number)
    prefix, notebook = document.text("id", number), document.text("notebook", number)
    if not _PREFIX.fullmatch(prefix):
        said = f"`{prefix}` is no id of an exercise: letters, then a number, such as ex1"
        raise document.bad(said, "id", number)
    if not re.fullmatch(r"[\w-]+", notebook):
        said = f"`{notebook}` is no name of a notebook: letters, digits, _ and -, without .ipynb"
        raise document.bad(said, "notebook", number)
    forward = _FORWARD.fullmatch(document.text("forward", number))
    if forward is None:
        said = '`forward` names a file and a function, such as "forward.py:rms_norm"'
        raise document.bad(said, "forward", number)
    gradients, sizes = table["gradients"], table["sizes"]
    if not _is_names(gradients) or not gradients:
        raise document.bad('`gradients` is a list such as ["dx", "dgain"]', "gradients", number)
    if twice := [name for name in gradients if gradients.count(name) > 1]:
        raise document.bad(f"{twice[0]} is asked for twice", "gradients", number)
    if not isinstance(sizes, Mapping) or not all(map(_is_count, sizes.values())):
        raise document.bad("`sizes` is a table such as { n = 32, d = 10 }", "sizes", number)
    points = table.get("points", 1)
    if not _is_count(points):
        raise document.bad("`points` is a whole number from 1", "points", number)
    return Outline(
        prefix, notebook, forward[1], forward[2], tuple(gradients), tuple(sizes.items()), points
    )


def _is_names(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) and item for item in value)


def _is_count(value: object) -> bool:
    return type(value) is int and value > 0


def _check_function(document: Document, number: int, outline: Outline, text: str) -> None:
    """Look at a forward function's text: it is there, and has what the gradients belong to."""
    path = document.path.parent / outline.file
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError) as error:
        line = getattr(error, "lineno", None) or 1
        raise BadCourse(f"{path}, line {line}: this is not Python: {error.args[0]}.") from None
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    function = functions.get(outline.function)
    if function is None:
        known = ", ".join(functions) or "no function"
        said = f"{outline.file} has no function {outline.function}; it has {known}"
        raise document.bad(said, "forward", number)
    names = set(_names_in(function))
    for gradient in outline.gradients:
        if gradient.removeprefix("d") not in names or not gradient.startswith("d"):
            said = f"{gradient} is asked for, and {outline.function} has no input or step"
            name = gradient.removeprefix("d")
            raise document.bad(f"{said} {name} (line {function.lineno} on)", "gradients", number)


def _names_in(function: ast.FunctionDef) -> Iterator[str]:
    """The inputs of a function, and what it assigns."""
    for node in ast.walk(function):
        if isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
