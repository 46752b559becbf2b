"""What one gradient's values show beside their references."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from torch import Tensor

from grader.execution.evidence import Value
from grader.program.compare import describe_dtype, describe_nonfinite, describe_type
from grader.verdict import Check, Place


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
    if value.agrees(reference, floor):
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
