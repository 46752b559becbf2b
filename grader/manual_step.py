"""A student's backward pass as a function: from the cells of a notebook to one training step."""

from __future__ import annotations

import linecache
import re
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

import torch
import torch.nn.functional as F

from grader.answer import Answer, AnswerCell, is_blank, parse_answer
from grader.exercises import TRAINING, Exercise
from grader.program import body_source, parse_program
from makemore_data.parameters import Parameters
from makemore_data.training import Backward

FUNCTION = "my_backward"

PARAMETERS = Parameters._fields

_MARK = re.compile(r"\s*(# answer:|### (BEGIN|END) SOLUTION)")


class Unfinished(Exception):
    """The answer is not a whole backward pass yet; the message is a sentence."""


def write_backward(
    cells: Sequence[AnswerCell],
    namespace: Mapping[str, Any] | None = None,
    exercise: Exercise = TRAINING,
) -> Backward:
    """The function that `backward_source` writes down.

    Args:
        cells: answer cells of a notebook; those of other exercises are left out.
        namespace: the names that the answer may use, a notebook's; by default torch, F and the
            lecture's sizes.

    Raises:
        Unfinished: some gradient is still to do, or a cell is not Python.
    """
    own = [cell for cell in cells if cell.grade_id.startswith(f"{exercise.prefix}-")]
    source = backward_source(own, exercise)
    name = f"<{FUNCTION}>"
    # So that a traceback shows the student's own lines.
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    scope = {"torch": torch, "F": F, **exercise.sizes, **(namespace or {})}
    exec(compile(source, name, "exec"), scope)
    backward: Backward = scope[FUNCTION]
    return backward


def backward_source(cells: Sequence[AnswerCell], exercise: Exercise = TRAINING) -> str:
    """The text of a function: the forward pass, the answer cells as they stand, and the result.

    Raises:
        Unfinished: some gradient is still to do, or a cell is not Python.
    """
    answer = parse_answer(cells)
    if answer.broken:
        raise Unfinished(answer.broken[0].reason.message)
    if missing := missing_gradients(answer, exercise):
        raise Unfinished(f"to do: {', '.join(missing)}")
    inputs = ", ".join(parse_program(exercise.forward).inputs)
    gradients = ", ".join(f"d{name}" for name in PARAMETERS)
    cells_text = [_without_marks(cell.source) for cell in answer.cells]
    body = "\n".join([body_source(exercise.forward), *cells_text])
    return (
        f"def {FUNCTION}({inputs}):\n{textwrap.indent(body.rstrip(), '    ')}\n"
        f"    return loss, ({gradients})\n"
    )


def missing_gradients(answer: Answer, exercise: Exercise = TRAINING) -> tuple[str, ...]:
    """The gradients that are blanks still, or parameters' gradients that nothing assigns."""
    assigned: set[str] = set()
    blanks: set[str] = set()
    for statement, effects in answer.effects.items():
        (blanks if is_blank(statement) else assigned).update(effects.binds)
    if answer.is_dynamic:
        # Names that come out of `exec` or `globals` do not show; running it will.
        assigned |= {f"d{name}" for name in PARAMETERS}
    needed = blanks | {f"d{name}" for name in PARAMETERS}
    return tuple(name for name in exercise.gradients if name in needed - assigned)


def _without_marks(source: str) -> str:
    """A cell without the lines that only the grader and the builder read."""
    return "\n".join(line for line in source.splitlines() if not _MARK.match(line))
