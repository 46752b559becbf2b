"""A course: a folder with exercises in `course.toml` and their forward functions."""

# Nothing here runs a forward function or imports torch: the process that keeps the books of a
# class need only know what is asked for.

from __future__ import annotations

import ast
import hashlib
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path

from grader.program.course_file import CourseFile, read_python, read_text

FILE = "course.toml"

BUILT_IN = Path(str(files("makemore_data"))) / "course"
"""The folder of the course that comes with the grader."""


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
    sent to another machine. Hints stay in `folder`, for those who ask for them.
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

    def outlines(self, notebook: str) -> tuple[Outline, ...]:
        """The exercises of a notebook; none where the course does not have it."""
        return tuple(outline for outline in self.exercises if outline.notebook == notebook)

    def gradients(self, notebook: str) -> tuple[tuple[str, str], ...]:
        """The gradients of a notebook, each behind the prefix of its exercise."""
        outlines = self.outlines(notebook)
        return tuple((each.prefix, gradient) for each in outlines for gradient in each.gradients)


def number_of(notebook: str) -> str:
    """What a notebook is called where there is little room: "01" for 01_atomic_backprop."""
    return notebook.partition("_")[0]


@cache
def built_in_course() -> Course:
    """The course that comes with the grader."""
    return read_course(BUILT_IN)


def read_course(folder: Path) -> Course:
    """Read a course's folder without running anything in it.

    Raises:
        BadCourse: something is missing or cannot be meant.
    """
    file = CourseFile(folder / FILE)
    for key in file.values:
        if key not in _KEYS:
            raise file.bad(f"`{key}` is no key of a course: it has {', '.join(_KEYS)}")
    title, repository = file.values.get("title"), file.values.get("repository", "")
    for key, value in (("title", title), ("repository", repository)):
        if not isinstance(value, str):
            raise file.bad(f"`{key}` has to be a text")
    tables = file.values.get("exercise")
    if not isinstance(tables, list) or not tables or not all(isinstance(t, dict) for t in tables):
        raise file.bad("a course has exercises, each a table `[[exercise]]`")
    outlines = tuple(_outline(file, number) for number in range(len(tables)))
    sources: dict[str, str] = {}
    for number, outline in enumerate(outlines):
        _refuse_twice(file, number, outlines)
        sources[outline.file] = sources.get(outline.file) or read_text(folder / outline.file)
        _check_function(file, number, outline, sources[outline.file])
    return Course(folder, str(title), str(repository), outlines, tuple(sources.items()))


def _named(number: int) -> str:
    """How sentences name the n-th exercise of `course.toml`, whose id may be what is wrong."""
    return f"exercise {number + 1}"


def _outline(file: CourseFile, number: int) -> Outline:
    """The n-th exercise of `course.toml`, each of its values looked at."""
    table = file.values["exercise"][number]
    for key in table:
        if key not in _MEANT:
            said = f"`{key}` is no key of an exercise: it has {', '.join(_MEANT)}"
            raise file.bad(said, _named(number))
    for key, (fits, meant) in _MEANT.items():
        if not fits(table.get(key, 1 if key == "points" else None)):
            raise file.bad(f"`{key}` has to be {meant}", _named(number))
    name, _, function = table["forward"].partition(":")
    gradients, sizes = tuple(table["gradients"]), tuple(table["sizes"].items())
    points = table.get("points", 1)
    return Outline(table["id"], table["notebook"], name, function, gradients, sizes, points)


def _is_like(expression: str) -> Callable[[object], bool]:
    return lambda value: isinstance(value, str) and re.fullmatch(expression, value) is not None


def _is_count(value: object) -> bool:
    return type(value) is int and value > 0


def _are_gradients(value: object) -> bool:
    if not isinstance(value, list) or not value:
        return False
    return all(map(_is_like(r"d\w+"), value)) and len({*value}) == len(value)


def _are_sizes(value: object) -> bool:
    return isinstance(value, dict) and all(map(_is_count, value.values()))


_KEYS = ("title", "repository", "exercise")
_MEANT: Mapping[str, tuple[Callable[[object], bool], str]] = {
    "id": (_is_like(r"[A-Za-z]{1,20}\d{1,9}[a-z]?"), 'letters and a number, such as "ex1"'),
    "notebook": (_is_like(r"[\w-]+"), 'a name without .ipynb, such as "01_rms_norm"'),
    "forward": (
        _is_like(r"[\w-]+\.py:[A-Za-z_]\w*"),
        'a file of the folder and a function in it, such as "forward.py:rms_norm"',
    ),
    "gradients": (_are_gradients, 'a list such as ["dx", "dgain"], each name once'),
    "sizes": (_are_sizes, "a table such as { n = 32, d = 10 }"),
    "points": (_is_count, "a whole number from 1"),
}
"""The keys of an exercise: what fits, and how to say it. Only `points` may be left out."""


def _refuse_twice(file: CourseFile, number: int, outlines: tuple[Outline, ...]) -> None:
    """Raise BadCourse for an id, or a gradient of a notebook, that stands further up already."""
    outline, before = outlines[number], outlines[:number]
    if outline.prefix in [other.prefix for other in before]:
        said = f"{outline.prefix} is the id of an exercise before"
        raise file.bad(said, _named(number))
    beside = [other for other in before if other.notebook == outline.notebook]
    asked = {gradient for other in beside for gradient in other.gradients}
    if twice := [gradient for gradient in outline.gradients if gradient in asked]:
        said = f"{twice[0]} is asked for by another exercise of {outline.notebook} already"
        raise file.bad(said, _named(number))


def _check_function(file: CourseFile, number: int, outline: Outline, text: str) -> None:
    """Look at a forward function's text: it is there, and has what the gradients belong to."""
    tree = read_python(file.path.parent / outline.file, text)
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    function = functions.get(outline.function)
    if function is None:
        known = ", ".join(functions) or "none"
        said = f"{outline.file} has no function {outline.function}; it has {known}"
        raise file.bad(said, _named(number))
    names = set(_names_in(function))
    for gradient in outline.gradients:
        if (name := gradient[1:]) not in names:
            said = f"{gradient} is asked for, and {outline.function} has no input or step {name}"
            raise file.bad(said, _named(number))


def _names_in(function: ast.FunctionDef) -> Iterator[str]:
    """The inputs of a function, and what it assigns."""
    for node in ast.walk(function):
        if isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
