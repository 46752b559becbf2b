"""An instance whose inputs are so large that clamps and hinges clip there."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress

import torch

from grader.program.compare import agrees
from grader.program.forward_program import is_differentiable
from grader.program.references import STEADY, References, nudged, references_on

WIDTHS = (1.0, 0.3)
"""Factors of the cubes of normal numbers, of which many are small and a few are large.

The first factor counts with which nothing is too large and no gradient is mostly rounding.
"""

LARGE = 1e9
"""From here on, a right formula may overflow where autograd does not."""


def widened(references: References, seed: int, given: Collection[str]) -> References:
    """The references with a wide last hidden instance, if the forward pass is sound there.

    Single numbers stay as they are, and so do the inputs that are `given`.
    """
    program, hidden = references.program, [one.instance for one in references.hidden]
    usual, near = hidden[-1], _unsteady(references)
    for width in WIDTHS:
        inputs = {name: usual.values[name] for name in program.inputs}
        for name in program.annotations.keys() - given:
            value = inputs[name]
            if is_differentiable(value) and value.dim():
                rows = len(value) if value.dim() > 1 else 1
                inputs[name] = width * (value * rows**0.5) ** 3
        with suppress(Exception):  # whatever the author's code makes of such numbers
            hidden[-1] = program.instance(
                usual.sizes, 0, torch.float64, draw_some=lambda *_, wide=inputs: wide
            )
            wide = references_on(references.lecture, hidden, program, seed)
            if _unsteady(wide) <= near:
                return wide
    return references


def _unsteady(references: References) -> set[str]:
    """The tensors that are too large on the last instance, or whose gradients are rounding."""
    last = references.hidden[-1]
    values, again = last.instance.values, nudged(last, 0)
    return {
        name
        for name, gradient in last.gradients.items()
        if not (values[name].abs() < LARGE).all()
        or not gradient.any()
        or not agrees(again[name], gradient, tolerance=STEADY)
    }
