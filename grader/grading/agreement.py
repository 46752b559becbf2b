"""Agreement: which gradients are right, found with all their values side by side."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from torch import Tensor

from grader.execution.evidence import GradientEvidence, Value
from grader.program.compare import FLOAT64_TOLERANCE, all_agree
from grader.program.references import References


def agreeing(
    evidence: Sequence[GradientEvidence],
    values: Callable[[GradientEvidence], Sequence[Value]],
    right: Callable[[GradientEvidence], Sequence[Tensor]],
    references: References,
    tolerance: float = FLOAT64_TOLERANCE,
) -> frozenset[str]:
    """The gradients whose values all differ from the right ones by no more than rounding.

    Nearly all do: this is the quick way to leave only the others to be looked at one by one.
    """
    looked_at, names = list[tuple[Tensor, Tensor, float]](), list[str]()
    for item in evidence:
        own = [value.tensor for value in values(item) if value.raised is None]
        tensors = [tensor for tensor in own if tensor is not None]
        if len(tensors) == len(references.hidden):
            floors = references.floors(item.name[1:])
            looked_at += zip(tensors, right(item), floors, strict=True)
            names += [item.name] * len(tensors)
    agree = zip(names, all_agree(looked_at, tolerance), strict=True)
    return frozenset(names) - {name for name, is_right in agree if not is_right}
