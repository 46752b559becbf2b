"""Gradients that are right, but not as exactly as a formula is."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from corpus.readers.lecture_course import ATOMIC
from grader.execution.evidence import GradientEvidence, Value
from grader.grading.imprecision import IMPRECISE, find_imprecision
from grader.program.references import prepare

REFERENCES = prepare(ATOMIC)
READERS = frozenset(REFERENCES.program.readers("hpreact"))


def off_by(values: Tensor, relative: float) -> Tensor:
    """The values with one of them off by so much of the largest."""
    moved = values.clone()
    moved.view(-1)[0] += relative * float(values.abs().max())
    return moved


def evidence(whole: float, local: float | None, name: str = "dhpreact") -> GradientEvidence:
    tensor = name[1:]
    alone = tuple(
        Value(off_by(reference.local_vjp(tensor, READERS), local or 0.0))
        for reference in REFERENCES.hidden
    )
    return GradientEvidence(
        name,
        Value(),
        tuple(Value(off_by(r.gradients[tensor], whole)) for r in REFERENCES.hidden),
        local=(Value(),) * len(alone) if local is None else alone,
        reads=READERS,
    )


@pytest.mark.parametrize(
    ("whole", "local"),
    [(1e-10, 1e-10), (1e-9, 1e-11), (1e-9, None), (10 * IMPRECISE, 10 * IMPRECISE)],
)
def test_what_is_right_but_not_exactly_is_seen(whole: float, local: float | None) -> None:
    (flag,) = find_imprecision([evidence(whole, local)], REFERENCES)
    assert flag.kind == "imprecise"
    assert flag.message.startswith("dhpreact is right to ")


@pytest.mark.parametrize(
    ("whole", "local"),
    [
        (0.0, 0.0),
        (IMPRECISE / 10, IMPRECISE / 10),
        (1e-9, 0.0),  # Handed down by another line.
        (1e-9, 1e-16),
        (0.0, 1e-9),  # What counts came out exact.
        (0.1, 0.1),  # Wrong: that is the judge's business.
        (1e-3, None),
    ],
)
def test_what_is_exact_or_wrong_is_not(whole: float, local: float | None) -> None:
    assert find_imprecision([evidence(whole, local)], REFERENCES) == ()


def test_a_gradient_without_a_value_is_passed_over() -> None:
    none = (Value(),) * len(REFERENCES.hidden)
    nothing = GradientEvidence("dhpreact", Value(), none, none)
    strange = tuple(Value(torch.full((2, 2), float("nan"))) for _ in REFERENCES.hidden)
    wrong = GradientEvidence("dhpreact", Value(), strange, strange)
    assert find_imprecision([nothing, wrong], REFERENCES) == ()


def test_noise_around_a_gradient_that_is_zero_by_structure_is_no_imprecision() -> None:
    (tensor,) = REFERENCES.zero_by_structure & {"b1"}
    noise = tuple(
        Value(torch.full_like(reference.gradients[tensor], 1e-17))
        for reference in REFERENCES.hidden
    )
    assert find_imprecision([GradientEvidence("db1", Value(), noise, noise)], REFERENCES) == ()
