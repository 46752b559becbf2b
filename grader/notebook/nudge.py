"""One number of a tensor, moved both ways: the slope of the loss, found without any calculus."""

from __future__ import annotations

import math
import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from grader.notebook.running_notebook import NotInTheLesson
from grader.pictures.gradient_error import Index, in_digits
from grader.pictures.slopes import draw_slopes
from grader.program.compare import RELATIVE_TOLERANCE, ROUNDING_NOISE, describe_unusable
from grader.program.forward_program import is_differentiable
from grader.program.references import References

STEP = 1e-5
"""How far the number is moved: in float64 the error of the slope is smallest near here."""

SMALLEST_STEP = 1e-9
"""Numbers much smaller than the step, such as a tiny probability, are moved less than others."""

MOST_DIGITS = 17
"""Of a factor that is not 1: a double has no more."""

CURVE_POINTS = 61
MOST_HALVINGS = 30


@dataclass(frozen=True, slots=True)
class Nudge:
    """What moving one number showed, in float64.

    `found` is the central difference at `step`; `autograd` and `tolerance` are the reference's,
    and what may be rounding in a float32 gradient. `losses` are by how much the loss changes at
    `moves`. Those within `reach` can be drawn as a chord.
    """

    gradient: str
    index: Index
    number: float
    step: float
    found: float
    autograd: float
    tolerance: float
    reach: float
    moves: Sequence[float]
    losses: Sequence[float]
    why_zero: str = ""

    @property
    def place(self) -> str:
        """The number as Python writes it, "C[3, 5]"."""
        return f"{self.gradient[1:]}{list(self.index) or ''}"

    def agrees(self, slope: float) -> bool:
        """True if a float32 gradient may have this slope here."""
        return abs(slope - self.autograd) <= self.tolerance


def read_index(gradient: str, shape: Sequence[int], given: Sequence[Any]) -> Index:
    """The place that the indices name, none of them negative.

    Raises:
        NotInTheLesson: they name none.
    """
    if len(given) == 1 and isinstance(given[0], list | tuple):
        given = given[0]
    example = ", ".join([f'nudge("{gradient}"', *("0" for _ in shape)]) + ")"
    says = f"{gradient} has shape {tuple(shape)}"
    try:
        places = [operator.index(place) for place in given]
    except TypeError:
        raise NotInTheLesson(f"Indices are whole numbers; {says}: {example}.") from None
    if len(places) != len(shape):
        count = f"{len(shape)} {'index' if len(shape) == 1 else 'indices'}"
        raise NotInTheLesson(f"{says}, so one of its numbers has {count}: {example}.")
    for dimension, (place, length) in enumerate(zip(places, shape, strict=True)):
        if not -length <= place < length:
            raise NotInTheLesson(
                f"{says}: index {place} is out of range in dimension {dimension}, which goes from"
                f" 0 to {length - 1}."
            )
    return tuple(place % length for place, length in zip(places, shape, strict=True))


def move_number(
    references: References, inputs: Mapping[str, Any], gradient: str, index: Index
) -> Nudge:
    """Move one number of a tensor both ways, and look how far the loss moves.

    Args:
        references: those of the exercise.
        inputs: the notebook's own batch and parameters, with which its forward pass runs.
        gradient: a name such as "dC"; the tensor may be an input or any step.
        index: which of its numbers.

    Raises:
        NotInTheLesson: the loss is no finite number.
    """
    program, tensor = references.program, gradient[1:]
    precise = {
        name: value.detach().double() if is_differentiable(value) else value
        for name, value in inputs.items()
    }
    values = program.run(precise)
    here = float(values[program.loss])
    if not math.isfinite(here):
        raise NotInTheLesson(f"The loss is {here}, so it has no slope: look at the forward pass.")

    def change(by: float) -> float:
        moved = values[tensor].clone()
        moved[index] += by
        return float(program.rerun(values, tensor, moved)[program.loss]) - here

    def chord(step: float) -> float:
        return (change(step) - change(-step)) / (2 * step)

    step = STEP
    # Also where the loss is NaN, as beyond the zero of a logarithm.
    while step > SMALLEST_STEP and not math.isclose(
        chord(step), chord(step / 2), rel_tol=1e-4, abs_tol=1e-9
    ):
        step /= 10
    found = chord(step)
    autograd = program.gradients(precise)[tensor]
    reach = _visible(values[tensor], float(values[tensor][index]))
    for _ in range(MOST_HALVINGS):
        rise = max(abs(change(reach)), abs(change(-reach)))
        if abs(chord(reach) - found) * reach <= 0.05 * rise:  # drawn, it is parallel to the slope
            break
        reach /= 2
    moves = [float(share) * 1.5 * reach for share in torch.linspace(-1, 1, CURVE_POINTS)]
    losses = [change(by) for by in moves]
    why_zero = ""
    if tensor in references.zero_by_structure and abs(found) <= ROUNDING_NOISE:
        readers = " and ".join(program.readers(tensor))
        why_zero = (
            f"Apart from rounding, this gradient is zero at every place of {tensor}: what comes"
            f" back to it through {readers} cancels, so the loss does not depend on it."
        )
    elif not any(losses):
        why_zero = "On this batch the loss does not depend on this number."
    return Nudge(
        gradient,
        index,
        float(values[tensor][index]),
        step,
        found,
        float(autograd[index]),
        RELATIVE_TOLERANCE * float(autograd.abs().max()) + ROUNDING_NOISE,
        reach,
        moves,
        losses,
        why_zero,
    )


def _visible(tensor: Tensor, number: float) -> float:
    """A move that is seen beside the numbers of the tensor."""
    spread = float(tensor.std()) if tensor.numel() > 1 else 0.0
    return spread or abs(number) or 1.0


def own_slope(nudge: Nudge, value: object, shape: Sequence[int]) -> tuple[float | None, str]:
    """The student's slope, if the value is a gradient of this shape; else a sentence why not."""
    problem = describe_unusable(nudge.gradient, value, tuple(shape))
    if problem or not isinstance(value, Tensor):
        is_todo = value is None or value is ...
        unwritten = f"{nudge.gradient} has no value yet, so there is no slope of yours."
        return None, unwritten if is_todo else problem
    return float(value.detach()[nudge.index]), ""


def describe(nudge: Nudge, yours: float | None) -> str:
    """The slopes, one below the other, then what there is to say of them."""
    slopes = {"slope found": nudge.found, "autograd": nudge.autograd}
    if yours is not None:
        slopes["yours"] = yours
    lines = [f"{nudge.place} = {in_digits(nudge.number, 4)}, moved by ±{nudge.step:.0e}"]
    lines += [f"{name:<12} {in_digits(slope, 4):>12}" for name, slope in slopes.items()]
    return "\n".join([*lines, *_remarks(nudge, yours)])


def _remarks(nudge: Nudge, yours: float | None) -> list[str]:
    remarks = [nudge.why_zero] if nudge.why_zero else []
    if not math.isclose(nudge.found, nudge.autograd, rel_tol=1e-3, abs_tol=ROUNDING_NOISE):
        remarks.append(
            "Autograd gives another slope than moving the number: the loss has a kink here, or the"
            " forward pass keeps a gradient from coming back."
        )
    if yours is None or (nudge.agrees(yours) and remarks):
        return remarks
    if nudge.agrees(yours):
        return ["All three agree."]
    if not math.isfinite(yours):
        return [*remarks, "Yours is no finite number."]
    if abs(nudge.autograd) <= nudge.tolerance:
        return [*remarks, "Yours is not zero."]
    times = (in_digits(yours / nudge.autograd, digits) for digits in range(3, MOST_DIGITS + 1))
    return [*remarks, f"Yours is {next(t for t in times if t != '1')} times autograd's."]


def picture(nudge: Nudge, yours: float | None) -> Any:
    """The loss over the number, the chord, and each slope as a line."""
    return draw_slopes(
        nudge.place,
        nudge.number,
        (nudge.moves, nudge.losses),
        nudge.reach,
        {"slope found": nudge.found, "autograd": nudge.autograd, "yours": yours},
    )
