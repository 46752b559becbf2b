"""Imprecision: gradients that are right, but not as exactly as a formula is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

import torch
from torch import Tensor

from grader.execution.evidence import GradientEvidence, Value
from grader.program.compare import FLOAT64_TOLERANCE
from grader.program.references import References
from grader.verdict import Flag

IMPRECISE = 1e-13
"""Difference from autograd, relative to the largest value, that no formula shows in float64.

The right answers of the tests differ by at most 1.3e-15, central differences by 1e-10.
"""


def find_imprecision(
    evidence: Iterable[GradientEvidence], references: References
) -> tuple[Flag, ...]:
    """Gradients that are right, but not as exactly as a formula is: kind `imprecise`.

    Numerical differentiation gives such values, and so do a needless float32 and a number that
    was rounded where it was written down. What was imprecise already when it was handed down is
    held against the line that made it so: its own statements on exact upstreams decide, where
    they could be run alone.
    """
    flags = []
    for item in evidence:
        distance = _own_distance(item, references)
        if distance is not None and IMPRECISE < distance <= FLOAT64_TOLERANCE:
            sentence = (
                f"{item.name} is right to {distance:.0e} of its largest value only; a formula is"
                " right to 1e-14. Was it differentiated numerically?"
            )
            flags.append(Flag("imprecise", sentence, item.place))
    return tuple(flags)


def _own_distance(item: GradientEvidence, references: References) -> float | None:
    """The largest distance from autograd's values that is the gradient's own; None if unknown."""
    tensor, whole = item.name[1:], None
    # Nothing for the whole to be relative to where autograd's values are noise around zero.
    if tensor not in references.zero_by_structure:
        whole = _distance(item.hidden, references.gradients(tensor), _scales(references)[tensor])
    if whole is not None and whole <= IMPRECISE:
        return whole
    readers = frozenset(references.program.readers(tensor))
    for given in item.upstreams(readers):
        right = references.local_vjps(tensor, given)
        alone = _distance(item.local, right, [_scale(values) for values in right])
        if alone is not None and alone <= FLOAT64_TOLERANCE:
            return alone
    return whole


def _distance(
    values: Sequence[Value], expected: Sequence[Tensor], scales: Sequence[float]
) -> float | None:
    largest = 0.0
    for value, reference, scale in zip(values, expected, scales, strict=True):
        if value.tensor is None or value.tensor.shape != reference.shape or scale == 0.0:
            return None
        difference = _scale(value.tensor.double() - reference)
        if not difference < float("inf"):
            return None
        largest = max(largest, difference / scale)
    return largest


def _scale(values: Tensor) -> float:
    """The largest value, zero where there is none."""
    return float(torch.linalg.vector_norm(values, float("inf"))) if values.numel() else 0.0


@lru_cache(maxsize=16)
def _scales(references: References) -> dict[str, list[float]]:
    """The largest value of each gradient on each hidden instance."""
    names = references.lecture_gradients
    return {name: [_scale(values) for values in references.gradients(name)] for name in names}
