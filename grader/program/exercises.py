"""The exercises of a course: a forward function with the gradients to be written."""

from __future__ import annotations

import itertools
import linecache
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from operator import attrgetter
from pathlib import Path
from types import MappingProxyType
from typing import Any

from torch import Tensor

from grader.program.course import BadCourse, Course, Outline
from grader.program.forward_program import NotAForwardProgram, parse_program
from grader.program.instances import size_names
from makemore_data.model import forward

LECTURE_SIZES = MappingProxyType(
    {"n": 32, "block_size": 3, "vocab_size": 27, "n_embd": 10, "n_hidden": 64}
)
"""Batch, context length, characters, embedding and hidden units of the lecture's network."""


@dataclass(frozen=True, slots=True, eq=False)
class Exercise:
    """A forward function with the gradients to be written, from the loss down.

    `prefix` is what the ids of its answer cells begin with, up to a hyphen; `notebook` is the name
    of the notebook it belongs to; `sizes` are those of the instance that is shown to the student;
    each gradient is worth `points`.
    """

    prefix: str
    notebook: str
    forward: Callable[..., Tensor]
    gradients: tuple[str, ...]
    sizes: Mapping[str, int]
    points: int = 1


@cache
def load_exercises(course: Course) -> tuple[Exercise, ...]:
    """Every exercise of a course, in its order; this runs the course's files, once a process.

    Raises:
        BadCourse: a file raises, or a function is not a forward program.
    """
    scopes = {name: _run(course.folder / name, text) for name, text in course.sources}
    return tuple(_load(course, outline, scopes[outline.file]) for outline in course.exercises)


def exercises_of(course: Course, notebook: str) -> tuple[Exercise, ...]:
    """The exercises of one notebook, in the order of the course."""
    return tuple(each for each in load_exercises(course) if each.notebook == notebook)


def exercise_called(course: Course, prefix: str) -> Exercise:
    """The exercise with this prefix; KeyError where there is none."""
    return {each.prefix: each for each in load_exercises(course)}[prefix]


def _run(path: Path, text: str) -> dict[str, Any]:
    """The names that a course's file defines."""
    name, scope = str(path), {"__name__": path.stem, "__file__": str(path)}
    # The functions' own text is read again; on another machine the file itself is not there.
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    try:
        exec(compile(text, name, "exec", dont_inherit=True), scope)
    except Exception as error:  # whatever an author's file raises, the author is to see
        lines = [f.lineno for f in traceback.extract_tb(error.__traceback__) if f.filename == name]
        line = lines[-1] if lines else 1
        said = f"{type(error).__name__}: {error}"
        raise BadCourse(f"{path}, line {line}: this file cannot be run ({said}).") from error
    return scope


def _load(course: Course, outline: Outline, scope: Mapping[str, Any]) -> Exercise:
    forward: Callable[..., Tensor] = scope[outline.function]
    sizes = dict(outline.sizes)
    code = getattr(forward, "__code__", None)
    where = f"{course.folder / outline.file}, line {code.co_firstlineno if code else 1}"
    try:
        program = parse_program(forward)
    except NotAForwardProgram as error:
        raise BadCourse(f"{where}: this is no forward program. {error}") from error
    if unknown := [name for name in size_names(program) if name not in sizes]:
        said = f"its shapes name a size {unknown[0]}, which `sizes` of {outline.prefix} lacks"
        raise BadCourse(f"{where}: {said}.")
    return Exercise(
        outline.prefix, outline.notebook, forward, outline.gradients, sizes, outline.points
    )


def _lecture_sizes(*names: str) -> Mapping[str, int]:
    return MappingProxyType({name: LECTURE_SIZES[name] for name in names})


ATOMIC = Exercise(
    prefix="ex1",
    notebook="01_atomic_backprop",
    forward=forward.atomic,
    gradients=(
        *("dlogprobs", "dprobs", "dcounts_sum_inv", "dcounts_sum", "dcounts"),
        *("dnorm_logits", "dlogit_maxes", "dlogits", "dh", "dW2", "db2", "dhpreact"),
        *("dbngain", "dbnbias", "dbnraw", "dbnvar_inv", "dbnvar", "dbndiff2", "dbndiff"),
        *("dbnmeani", "dhprebn", "dembcat", "dW1", "db1", "demb", "dC"),
    ),
    sizes=LECTURE_SIZES,
)

FUSED_CROSS_ENTROPY = Exercise(
    prefix="ex2",
    notebook="02_fused_cross_entropy",
    forward=forward.fused_cross_entropy,
    gradients=("dlogits",),
    sizes=_lecture_sizes("n", "vocab_size"),
)

SMOOTHED_CROSS_ENTROPY = Exercise(
    prefix="ex2s",
    notebook="02_fused_cross_entropy",
    forward=forward.smoothed_cross_entropy,
    gradients=("dz",),
    sizes=_lecture_sizes("n", "vocab_size"),
)

FUSED_BATCHNORM = Exercise(
    prefix="ex3",
    notebook="03_fused_batchnorm",
    forward=forward.batchnorm,
    gradients=("dbngain", "dbnbias", "dxhat", "dvar", "dmu", "dhprebn"),
    sizes=_lecture_sizes("n", "n_hidden"),
)

TRAINING = Exercise(
    prefix="ex4",
    notebook="04_manual_training",
    forward=forward.fused_forward,
    gradients=(
        *("dlogits", "dh", "dW2", "db2", "dhpreact", "dbngain", "dbnbias", "dhprebn"),
        *("dembcat", "dW1", "db1", "demb", "dC"),
    ),
    sizes={**LECTURE_SIZES, "n_hidden": 200},
)

EXERCISES = (
    ATOMIC,
    FUSED_CROSS_ENTROPY,
    SMOOTHED_CROSS_ENTROPY,
    FUSED_BATCHNORM,
    TRAINING,
)
"""Every exercise, in the order of the course."""

NOTEBOOKS: Mapping[str, tuple[Exercise, ...]] = MappingProxyType(
    {name: tuple(group) for name, group in itertools.groupby(EXERCISES, attrgetter("notebook"))}
)
"""The exercises of each notebook, by the notebook's name."""
