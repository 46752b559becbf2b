"""Make a function of the answer cells that hold a student's backward pass."""

from __future__ import annotations

import linecache
import re
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

import torch
import torch.nn.functional as F

from grader.answer.parse import Answer, AnswerCell, cells_of, is_blank, parse_answer
from grader.program.course import built_in_course
from grader.program.exercises import Exercise, exercise_called
from grader.program.parse import body_source, parse_program
from grader.submission.answer_cells import ROLE_COMMENT
from makemore_data.model.parameters import Parameters
from makemore_data.training.train import Backward

FUNCTION = "my_backward"

PARAMETERS = Parameters._fields

_MARK = re.compile(rf"{ROLE_COMMENT.pattern}|### (BEGIN|END) SOLUTION")


def training() -> Exercise:
    """The exercise of notebook 4, whose answer trains the network."""
    return exercise_called(built_in_course(), "ex4")


class Unfinished(Exception):
    """The answer is not a complete backward pass yet. The message tells the student why."""


def write_backward(
    exercise: Exercise,
    cells: Sequence[AnswerCell],
    namespace: Mapping[str, Any] | None = None,
) -> Backward:
    """Define the function that `backward_source` writes.

    Args:
        exercise: the one that the cells answer.
        cells: the answer cells of a notebook; those of other exercises are left out.
        namespace: the notebook's names, which the answer may use; by default they are torch, F
            and the lecture's sizes.

    Raises:
        Unfinished: a gradient is still to do, a cell is not Python, or it holds a statement that
            Python does not accept in a function.
    """
    source = backward_source(exercise, cells_of(exercise.prefix, cells))
    name = f"<{FUNCTION}>"
    # So that a traceback shows the student's own lines.
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    scope = {"torch": torch, "F": F, **exercise.sizes, **(namespace or {})}
    try:
        code = compile(source, name, "exec")
    except SyntaxError as error:  # `from math import *` and `global` may stand in a cell alone
        line = source.splitlines()[(error.lineno or 1) - 1].strip()
        raise Unfinished(
            f"Your answer becomes a function, where Python does not accept `{line}`: {error.msg}."
        ) from None
    exec(code, scope)
    backward: Backward = scope[FUNCTION]
    return backward


def backward_source(exercise: Exercise, cells: Sequence[AnswerCell]) -> str:
    """Write the text of a function: the forward pass, the answer cells unchanged, and the result.

    Raises:
        Unfinished: a gradient is still to do, or a cell is not Python.
    """
    answer = parse_answer(cells)
    for reason in answer.broken.values():
        raise Unfinished(reason.message)
    if missing := missing_gradients(exercise, answer):
        raise Unfinished(f"to do: {', '.join(missing)}")
    inputs = ", ".join(parse_program(exercise.forward).inputs)
    gradients = ", ".join(f"d{name}" for name in PARAMETERS)
    cells_text = [_without_marks(cell.source) for cell in answer.cells]
    body = "\n".join([body_source(exercise.forward), *cells_text])
    return (
        f"def {FUNCTION}({inputs}):\n{textwrap.indent(body.rstrip(), '    ')}\n"
        f"    return loss, ({gradients})\n"
    )


def missing_gradients(exercise: Exercise, answer: Answer) -> tuple[str, ...]:
    """The gradients that are still blank, and the parameters' gradients that no line assigns."""
    assigned: set[str] = set()
    blanks: set[str] = set()
    for statement, effects in answer.shown.items():
        (blanks if is_blank(statement) else assigned).update(effects.binds)
    if answer.is_dynamic:
        # Names that come out of `exec` or `globals` do not show; running it will.
        assigned |= {f"d{name}" for name in PARAMETERS}
    needed = blanks | {f"d{name}" for name in PARAMETERS}
    return tuple(name for name in exercise.gradients if name in needed - assigned)


def _without_marks(source: str) -> str:
    """Remove from a cell the lines that only the grader and the builder read."""
    return "\n".join(line for line in source.splitlines() if not _MARK.fullmatch(line.strip()))
