"""What a wrong value has to do with the right one, on values made for it."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from grader.diagnosis.fits import agrees, fit_factor, fit_rows, fit_shape
from grader.diagnosis.kinds import Kind

SHAPES = ((7, 5), (9, 4))


def drawn(*shape: int) -> Tensor:
    return torch.randn(
        shape, generator=torch.Generator().manual_seed(sum(shape)), dtype=torch.float64
    )


RIGHT = [drawn(*shape) for shape in SHAPES]
ROWS = [drawn(n, 1) for n, _ in SHAPES]


def test_agreement_is_up_to_rounding_and_of_one_shape() -> None:
    value = drawn(3, 4)
    assert agrees(value, value * (1 + 1e-13))
    assert not agrees(value, value * (1 + 1e-6))
    assert not agrees(value, value.reshape(4, 3))
    assert agrees(value, value.reshape(4, 3), flat=True)


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_what_is_no_number_agrees_with_nothing(bad: float) -> None:
    value = drawn(3).index_fill(0, torch.tensor([1]), bad)
    assert not agrees(value, value)


def test_zeros_are_like_zeros_only() -> None:
    assert agrees(torch.zeros(3), torch.zeros(3))
    assert not agrees(torch.zeros(3), torch.full((3,), 1e-30))


@pytest.mark.parametrize(
    ("right", "of", "kind"),
    [
        (RIGHT, lambda r: r.T, Kind.TRANSPOSED),
        (ROWS, lambda r: r.squeeze(1), Kind.LOST_KEEPDIM),
        (RIGHT, lambda r: r.flatten(), Kind.WRONG_SHAPE),
        (RIGHT, lambda r: r[None], Kind.WRONG_SHAPE),
        (RIGHT, lambda r: torch.stack([r, r * 0], 2), Kind.MISSING_SUM),
        (ROWS, lambda r: r.expand(len(r), 6), Kind.WRONG_SHAPE),
    ],
)
def test_the_right_numbers_in_another_shape(
    right: list[Tensor], of: Callable[[Tensor], Tensor], kind: Kind
) -> None:
    kinds = [found for found, _ in fit_shape("dx", [of(r) for r in right], right)]
    assert kinds[:1] == [kind]


def test_a_shape_by_chance_right_in_one_instance_is_no_fit() -> None:
    values = [RIGHT[0].T, RIGHT[1].T + 1]
    assert list(fit_shape("dx", values, RIGHT)) == []


@pytest.mark.parametrize(
    ("of", "kind"),
    [
        (lambda r: torch.cat([r[:1] * 0, r[1:]]), Kind.PARTIAL_ROWS),
        (lambda r: torch.cat([r[:, :1], r[:, 1:] * 0], 1), Kind.PARTIAL_ROWS),
        (lambda r: r.flip(0), Kind.PERMUTED),
        (lambda r: r + 1, None),
    ],
)
def test_the_right_numbers_in_some_places(
    of: Callable[[Tensor], Tensor], kind: Kind | None
) -> None:
    kinds = [found for found, _ in fit_rows("dx", [of(r) for r in RIGHT], RIGHT)]
    assert kinds[:1] == ([] if kind is None else [kind])


def test_a_factor_too_many_or_too_few() -> None:
    tensors = {"x": [drawn(*shape) + 3 for shape in SHAPES], "y": [drawn(2), drawn(2)]}
    pairs = list(zip(RIGHT, tensors["x"], strict=True))
    more = list(fit_factor("dz", [r * f for r, f in pairs], RIGHT, tensors))
    less = list(fit_factor("dz", [r / f for r, f in pairs], RIGHT, tensors))
    assert more == [(Kind.EXTRA_FACTOR, "`dz` has the factor `x` once too often.")]
    assert less == [(Kind.MISSING_FACTOR, "`dz` lacks the factor `x`.")]


def test_a_tensor_of_many_axes_is_no_reason_to_try_all_their_sums() -> None:
    """There are 2**40 of them: this test ends, or the machine does."""
    assert list(fit_shape("dx", [torch.ones([1] * 40)] * 2, [torch.ones(3)] * 2)) == []


def test_a_missing_row_is_named_where_it_is_the_same_in_the_notebook() -> None:
    def said(missing: list[int]) -> str:
        values = [
            r.clone().index_fill_(0, torch.tensor([i]), 0)
            for r, i in zip(RIGHT, missing, strict=True)
        ]
        return next(iter(fit_rows("dx", values, RIGHT)))[1]

    assert said([0, 0]) == "`dx` is right but for index 0 of axis 0, where it is zero."
    assert said([6, 8]) == "`dx` is right but for the last index of axis 0, where it is zero."
    assert said([3, 5]) == "`dx` is right but for some of the indices of axis 0, where it is zero."
