"""The exercises of a course: a forward function with the gradients to be written."""

from __future__ import annotations

import linecache
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import FunctionType
from typing import Any

from torch import Tensor

from grader.program.course import FILE, BadCourse, Course, Outline
from grader.program.forward_program import NotAForwardProgram
from grader.program.parse import parse_program, source_of


@dataclass(frozen=True, slots=True, eq=False)
class Exercise:
    """A forward function, with the gradients that a student has to write, from the loss down.

    The ids of its answer cells begin with `prefix` and a hyphen. `notebook` is the name of the
    notebook to which it belongs, `sizes` are those of the instance that the student sees, and each
    gradient is worth `points`. `called` maps names from other courses to the names that are used
    here. If `as_lecture` is true, the hidden instances keep `sizes`, and whatever the lecture's
    `cmp` accepts passes.
    """

    prefix: str
    notebook: str
    forward: Callable[..., Tensor]
    gradients: tuple[str, ...]
    sizes: Mapping[str, int]
    points: int = 1
    called: Mapping[str, str] = field(default_factory=dict)
    as_lecture: bool = False


@cache
def load_exercises(course: Course) -> tuple[Exercise, ...]:
    """Load every exercise of a course, in its order. This runs the course's files, once a process.

    Raises:
        BadCourse: a file raises an exception, or a function is not a forward program.
    """
    scopes = {name: run_file(course.folder / name, text) for name, text in course.sources}
    return tuple(_load(course, outline, scopes[outline.file]) for outline in course.exercises)


def exercises_of(course: Course, notebook: str) -> tuple[Exercise, ...]:
    """The exercises of one notebook, in the order of the course."""
    return tuple(each for each in load_exercises(course) if each.notebook == notebook)


def exercise_called(course: Course, prefix: str) -> Exercise:
    """The exercise with this prefix; KeyError if there is none."""
    return {each.prefix: each for each in load_exercises(course)}[prefix]


def run_file(path: Path, text: str) -> dict[str, Any]:
    """Run one of a course's files, and return the names that it defines.

    Raises:
        BadCourse: the file is not Python, or raises an exception.
    """
    name, scope = str(path), {"__name__": path.stem, "__file__": str(path)}
    # The functions' source is read again later, and on another machine the file is not there.
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    try:
        exec(compile(text, name, "exec", dont_inherit=True), scope)
    except Exception as error:  # the author sees whatever the file raises, and where
        lines = [f.lineno for f in traceback.extract_tb(error.__traceback__) if f.filename == name]
        line = error.lineno if isinstance(error, SyntaxError) else lines[-1] if lines else 1
        said = f"{type(error).__name__}: {getattr(error, 'msg', error)}"
        raise BadCourse(f"{path}, line {line}: this file cannot be run ({said}).") from error
    return scope


def _load(course: Course, outline: Outline, scope: Mapping[str, Any]) -> Exercise:
    sizes, path = dict(outline.sizes), course.folder / outline.file
    where = f"{course.folder / FILE}, {outline.prefix}"
    if outline.function not in scope:
        own = (each for each in scope.values() if isinstance(each, FunctionType))
        known = ", ".join(f.__name__ for f in own if f.__code__.co_filename == str(path)) or "none"
        said = f"{outline.file} has no function {outline.function}; it has {known}"
        raise BadCourse(f"{where}: {said}.")
    forward: Callable[..., Tensor] = scope[outline.function]
    try:
        program = parse_program(forward)
    except NotAForwardProgram as error:
        raise BadCourse(f"{path}: {error}") from error
    if unknown := [name for name in program.size_names if name not in sizes]:
        line = source_of(forward)[0].lineno
        said = f"its shapes name a size {unknown[0]}, which `sizes` of {outline.prefix} lacks"
        raise BadCourse(f"{path}: {outline.function}, line {line}: {said}.")
    for gradient in outline.gradients:
        if gradient not in program.gradient_names:
            said = f"{outline.function} has no input or step {gradient[1:]}"
            raise BadCourse(f"{where}: {gradient} is asked for, and {said}.")
    named = outline.prefix, outline.notebook
    called = dict(outline.called)
    return Exercise(
        *named, forward, outline.gradients, sizes, outline.points, called, outline.as_lecture
    )
