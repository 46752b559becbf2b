"""Fits: what a wrong value has to do with the right one, whatever formula it came from."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence

import torch
from torch import Tensor

from grader.kinds import Kind

MATCH = 1e-9
"""Largest difference, relative to the largest value, of float64 values that are the same."""

Fit = tuple[Kind, str]
"""A kind of mistake with the sentence about it."""


def agrees(value: Tensor, other: Tensor) -> bool:
    """True if two values are the same up to float64 rounding, shape and all."""
    if value.shape != other.shape:
        return False
    if value.numel() == 0:
        return True
    largest = max(float(other.abs().max()), float(value.abs().max()))
    # Written so that anything unordered or infinite differs; zeros are like zeros only.
    return largest < math.inf and float((value - other).abs().max()) <= MATCH * largest


def fit_shape(gradient: str, values: Sequence[Tensor], right: Sequence[Tensor]) -> Iterator[Fit]:
    """The right numbers in another shape, or copies that still have to be summed."""
    value, expected = values[0], right[0]
    pairs = list(zip(values, right, strict=True))
    if value.shape == expected.shape:
        return
    if value.dim() == 2 and all(agrees(v.mT, r) for v, r in pairs):
        yield Kind.TRANSPOSED, f"`{gradient}` is the transpose of what it should be."
    if value.numel() == expected.numel() and all(agrees(v.reshape(r.shape), r) for v, r in pairs):
        if value.dim() < expected.dim():
            yield (
                Kind.LOST_KEEPDIM,
                f"The numbers of `{gradient}` are right, but an axis of length 1 has been lost.",
            )
        else:
            yield Kind.WRONG_SHAPE, f"The numbers of `{gradient}` are right, its shape is not."
    for count in range(1, value.dim() + 1):
        for axes in itertools.combinations(range(value.dim()), count):
            sums = [v.sum(axes, keepdim=keepdim) for v in values for keepdim in (True, False)]
            kept, dropped = sums[::2], sums[1::2]
            if any(all(map(agrees, some, right)) for some in (kept, dropped)):
                listed = " and ".join(map(str, axes))
                yield (
                    Kind.MISSING_SUM,
                    f"`{gradient}` is not summed over axis {listed}: `{gradient[1:]}` was copied"
                    " along it, and every copy contributes.",
                )
                return
    if all(_is_copied(v, r) for v, r in pairs):
        yield (
            Kind.WRONG_SHAPE,
            f"`{gradient}` has the right numbers several times over: something of another shape"
            " was added to it or multiplied with it.",
        )


def _is_copied(value: Tensor, right: Tensor) -> bool:
    try:
        return agrees(value, right.expand(value.shape))
    except RuntimeError:  # it does not broadcast, so it was not copied
        return False


def fit_rows(gradient: str, values: Sequence[Tensor], right: Sequence[Tensor]) -> Iterator[Fit]:
    """The right numbers in the wrong places, or in some places only."""
    if any(v.shape != r.shape for v, r in zip(values, right, strict=True)):
        return
    for axis in range(values[0].dim()):
        lacking = [_zero_rows(v, r, axis) for v, r in zip(values, right, strict=True)]
        if all(rows for rows in lacking):
            rows = lacking[0] or ()
            which = f"index {rows[0]}" if len(rows) == 1 else f"{len(rows)} of the indices"
            if any(len(other or ()) != len(rows) for other in lacking):
                which = "some of the indices"
            yield (
                Kind.PARTIAL_ROWS,
                f"`{gradient}` is right but for {which} of axis {axis}, where it is zero.",
            )
    if all(_is_permuted(v, r) for v, r in zip(values, right, strict=True)):
        yield Kind.PERMUTED, f"`{gradient}` has the right numbers in the wrong places."


def _zero_rows(value: Tensor, right: Tensor, axis: int) -> tuple[int, ...]:
    """The indices of an axis at which a value is zero, if it is right at all the others."""
    if value.shape[axis] < 2:
        return ()
    length = value.shape[axis]
    rows = value.movedim(axis, 0).reshape(length, -1)
    due = right.movedim(axis, 0).reshape(length, -1)
    zero = ~rows.any(1) & due.any(1)
    if not zero.any() or zero.all() or not agrees(rows[~zero], due[~zero]):
        return ()
    return tuple(int(index) for index in zero.nonzero())


def _is_permuted(value: Tensor, right: Tensor) -> bool:
    ours, theirs = value.flatten().sort().values, right.flatten().sort().values
    # Equal numbers say nothing: a constant gradient is a permutation of itself.
    return agrees(ours, theirs) and len(set(theirs.tolist())) > 2


def fit_factor(
    gradient: str,
    values: Sequence[Tensor],
    right: Sequence[Tensor],
    tensors: Mapping[str, Sequence[Tensor]],
) -> Iterator[Fit]:
    """The right value times a tensor of the forward pass, or without one."""
    for name, factors in tensors.items():
        triples = list(zip(values, right, factors, strict=True))
        if all(_is_product(v, r, f) for v, r, f in triples):
            yield Kind.EXTRA_FACTOR, f"`{gradient}` has the factor `{name}` once too often."
        if all(_is_product(r, v, f) for v, r, f in triples):
            yield Kind.MISSING_FACTOR, f"`{gradient}` lacks the factor `{name}`."


def _is_product(product: Tensor, one: Tensor, other: Tensor) -> bool:
    try:
        return product.shape == one.shape and agrees(product, one * other)
    except RuntimeError:  # their shapes do not go together
        return False


def fit_scale(
    values: Sequence[Tensor], wholes: Sequence[Tensor], parts: Sequence[Tensor]
) -> list[float] | None:
    """The numbers c for which value = whole + (c - 1) part, one an instance, if there are any."""
    scales = []
    for value, whole, part in zip(values, wholes, parts, strict=True):
        if value.shape != whole.shape:
            return None
        part = part.expand(whole.shape)
        rest, squared = value - whole + part, float((part * part).sum())
        if squared == 0:
            return None
        scale = float((rest * part).sum()) / squared
        if not agrees(whole + (scale - 1) * part, value):
            return None
        scales.append(scale)
    return scales


def name_scale(
    scales: Sequence[float], sizes: Sequence[Mapping[str, int]]
) -> tuple[str, bool] | None:
    """How a factor is written that has these values on instances of these sizes.

    Returns its text, and whether it is one of Bessel's, n / (n - 1) or its inverse; None where no
    short text fits.
    """
    first = scales[0]
    if all(abs(scale - first) <= MATCH * abs(first) for scale in scales):
        return f"{round(first, 9):g}", False
    for name in sizes[0]:
        n = torch.tensor([size[name] for size in sizes], dtype=torch.float64)
        for text, factor, is_bessel in (
            (name, n, False),
            (f"1/{name}", 1 / n, False),
            (f"{name}/({name} - 1)", n / (n - 1), True),
            (f"({name} - 1)/{name}", (n - 1) / n, True),
            (f"({name} - 1)", n - 1, False),
            (f"1/({name} - 1)", 1 / (n - 1), False),
            (f"({name} - 2)", n - 2, False),
            (f"{name} * ({name} - 1)", n * (n - 1), False),
            (f"({name} - 1)**2", (n - 1) ** 2, False),
            (f"{name}**2", n**2, False),
            (f"1/{name}**2", n**-2, False),
        ):
            ratio = torch.tensor(scales, dtype=torch.float64) / factor
            number = float(ratio[0])
            if agrees(ratio, torch.full_like(ratio, number)):
                rounded = f"{round(number, 9):g}"
                sign = "" if number == 1 or rounded == "1" else f"{rounded} * "
                return f"{'-' if rounded == '-1' else sign}{text}", is_bessel
    for (one, _), (other, _) in itertools.combinations(sizes[0].items(), 2):
        product = [size[one] * size[other] for size in sizes]
        for text, factors in (
            (f"{one} * {other}", product),
            (f"1/({one} * {other})", [1 / p for p in product]),
            (f"{one}/{other}", [size[one] / size[other] for size in sizes]),
            (f"{other}/{one}", [size[other] / size[one] for size in sizes]),
        ):
            if all(abs(s - f) <= MATCH * abs(f) for s, f in zip(scales, factors, strict=True)):
                return text, False
    return None
