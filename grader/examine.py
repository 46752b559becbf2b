"""What one gradient's values show beside their references."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from torch import Tensor

from grader.compare import describe_dtype, describe_nonfinite, describe_shape, describe_type
from grader.evidence import Value
from grader.reasons import WRITTEN_IN
from grader.verdict import Check, Place

TOLERANCE = 1e-6
"""Largest accepted difference on a float64 instance, relative to the reference's largest value.

Right answers differ by about 1e-14; the smallest mistake seen, a forgotten eps, by 1e-5.
"""


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check of one gradient found: a word, and where needed a sentence and a place.

    `shapes` are those found and expected, where they differ, on the hidden instance `instance`.
    """

    check: Check
    sentence: str = ""
    place: Place | None = None
    shapes: tuple[tuple[int, ...], tuple[int, ...]] | None = None
    instance: int = 0


RIGHT = Finding(Check.RIGHT)


def examine(name: str, value: Value, reference: Tensor, floor: float) -> Finding:
    """One value beside one reference, on a float64 instance."""
    if _agrees(value, reference, floor):
        return RIGHT
    unusable = find_unusable(name, value)
    if unusable is not None:
        return unusable
    assert value.tensor is not None
    shape, expected = tuple(value.tensor.shape), tuple(reference.shape)
    if shape != expected:
        return Finding(Check.WRONG, shapes=(shape, expected))
    if value.interrupted is not None:
        return Finding(Check.NOT_RUN, value.interrupted.message, value.interrupted.place)
    return Finding(Check.WRONG)


def _agrees(value: Value, reference: Tensor, floor: float) -> bool:
    """True for a gradient that differs from the reference by no more than rounding."""
    tensor = value.tensor
    if tensor is None or value.raised is not None or not tensor.is_floating_point():
        return False
    if tensor.shape != reference.shape:
        return False
    if reference.numel() == 0:
        return True
    largest = max(floor, float(reference.abs().max()))
    difference = float((tensor.double() - reference).abs().max())
    # Written so that anything unordered is wrong.
    return difference <= TOLERANCE * largest


def find_unusable(name: str, value: Value) -> Finding | None:
    """Why there is no number to compare: raised, missing, of a wrong type, NaN or infinite."""
    if value.raised is not None:
        return Finding(Check.NOT_RUN, value.raised.message, value.raised.place)
    if value.tensor is None:
        if value.is_placeholder:
            return Finding(Check.NOT_RUN, f"{name} is not assigned.")
        sentence = describe_type(name, value.type_name or "nothing")
        return Finding(Check.NOT_RUN, sentence)
    if not value.tensor.is_floating_point():
        return Finding(Check.NOT_RUN, describe_dtype(name, value.tensor))
    if sentence := describe_nonfinite(name, value.tensor):
        return Finding(Check.NOT_RUN, sentence)
    return None


def worst_of(findings: Iterable[Finding]) -> Finding:
    """One finding for several instances: not run before wrong before right."""
    order = (Check.NOT_RUN, Check.WRONG, Check.RIGHT)
    numbered = list(enumerate(findings))
    if all(finding is RIGHT for _, finding in numbered):
        return RIGHT
    number, worst = min(numbered, key=lambda item: order.index(item[1].check))
    return replace(worst, instance=number) if number else worst


def told_at(finding: Finding, name: str, lengths: Sequence[Mapping[int, int]]) -> Finding:
    """The finding with its sentence about shapes, told at the lecture's sizes."""
    if finding.shapes is None:
        return finding
    known = lengths[finding.instance]
    shape, expected = (
        tuple(known.get(length, length) for length in shape) for shape in finding.shapes
    )
    if shape == expected:
        # Only at the lecture's sizes is it right: a number is written into the line.
        return replace(finding, sentence=WRITTEN_IN)
    return replace(finding, sentence=describe_shape(name, shape, expected))
