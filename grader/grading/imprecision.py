"""Imprecision: gradients that are right, but not as exactly as a formula is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from torch import Tensor

from grader.execution.evidence import GradientEvidence, Value
from grader.program.compare import FLOAT64_TOLERANCE, agrees
from grader.program.references import References
from grader.verdict import Flag

IMPRECISE = 1e-13
"""Difference from autograd, relative to the largest value, that no formula shows in float64.

The right answers of the tests differ by at most 1.3e-15, central differences by 1e-10.
"""


def find_imprecision(
    evidence: Sequence[GradientEvidence], references: References
) -> tuple[Flag, ...]:
    """Gradients that are right, but not as exactly as a formula is: kind `imprecise`.

    Numerical differentiation gives such values, and so do a needless float32 and a number that
    was rounded where it was written down.
    """
    said = "is right to a few digits only; a formula is right to 1e-14. Was it found numerically?"
    return tuple(
        Flag("imprecise", f"{item.name} {said}", item.place)
        for item in evidence
        if item.apart > IMPRECISE and is_rough(item, references, IMPRECISE)
    )


def is_rough(item: GradientEvidence, references: References, noise: float) -> bool:
    """True if the gradient's lines are right, but not to so many digits that `noise` is left."""
    is_exact = any(_agree(item, references, noise))
    return not is_exact and any(_agree(item, references, FLOAT64_TOLERANCE))


def _agree(item: GradientEvidence, references: References, tolerance: float) -> Iterator[bool]:
    """Whether the values agree with autograd's: those of the whole answer, then its own alone.

    What was imprecise already when it was handed down is held against the line that made it so:
    alone, on exact upstreams, this one is exact.
    """
    tensor = item.name[1:]
    floors = references.floors(tensor)

    def compared(values: Iterable[Value], right: Iterable[Tensor]) -> bool:
        return all(
            value.tensor is not None and agrees(value.tensor, reference, floor, tolerance)
            for value, reference, floor in zip(values, right, floors, strict=False)
        )

    yield compared(item.hidden, references.gradients(tensor))
    for given in item.upstreams(frozenset(references.program.readers(tensor))):
        yield compared(item.local, references.local_vjps(tensor, given))
