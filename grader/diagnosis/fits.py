"""Fits: what a wrong value has to do with the right one, whatever formula it came from."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence

from torch import Tensor

from grader.diagnosis.factors import name_factor
from grader.diagnosis.formula.arithmetic import Branch, Number, multiply
from grader.diagnosis.formula.node import DoesNotFit, Environment, Formula, walk
from grader.diagnosis.formula.places import Scatter
from grader.diagnosis.kinds import Kind

MATCH = 1e-9
"""Largest difference, relative to the largest value, of float64 values that are the same."""

MOST_AXES = 5
"""Axes of which every choice is tried; a gradient has three at most."""

Explanation = tuple[Kind, str]
"""A kind of mistake with the sentence about it."""


def agrees(value: Tensor, other: Tensor, flat: bool = False) -> bool:
    """True if two values are the same up to float64 rounding; in any shape if `flat`."""
    if flat and value.numel() == other.numel():
        value, other = value.reshape(-1), other.reshape(-1)
    if value.shape != other.shape:
        return False
    if value.numel() == 0:
        return True
    largest = max(float(other.abs().max()), float(value.abs().max()))
    # Written so that anything unordered or infinite differs; zeros are like zeros only.
    return largest < math.inf and float((value - other).abs().max()) <= MATCH * largest


def fit_shape(
    gradient: str, values: Sequence[Tensor], right: Sequence[Tensor]
) -> Iterator[Explanation]:
    """The right numbers in another shape, or copies that still have to be summed."""
    value, expected = values[0], right[0]
    pairs = list(zip(values, right, strict=True))
    if value.shape == expected.shape:
        return
    if value.dim() == 2 and all(agrees(v.mT, r) for v, r in pairs):
        yield Kind.TRANSPOSED, f"`{gradient}` is the transpose of what it should be."
    if value.numel() == expected.numel() and all(agrees(v.reshape(r.shape), r) for v, r in pairs):
        without_ones = tuple(length for length in expected.shape if length != 1)
        if tuple(value.shape) == without_ones:
            yield (
                Kind.LOST_KEEPDIM,
                f"The numbers of `{gradient}` are right, but an axis of length 1 has been lost.",
            )
        else:
            yield Kind.WRONG_SHAPE, f"The numbers of `{gradient}` are right, its shape is not."
    for count in range(1, min(value.dim(), MOST_AXES) + 1):
        for axes in itertools.combinations(range(min(value.dim(), MOST_AXES)), count):
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


def fit_rows(
    gradient: str, values: Sequence[Tensor], right: Sequence[Tensor]
) -> Iterator[Explanation]:
    """The right numbers in the wrong places, or in some places only."""
    if any(v.shape != r.shape for v, r in zip(values, right, strict=True)):
        return
    for axis in range(values[0].dim()):
        lacking = [_zero_rows(v, r, axis) for v, r in zip(values, right, strict=True)]
        if all(rows for rows in lacking):
            rows = lacking[0] or ()
            # An index that is another in each instance is none of the notebook's.
            which = "some of the indices"
            if all(o == (v.shape[axis] - 1,) for o, v in zip(lacking, values, strict=True)):
                which = "the last index"
            elif all(other == rows for other in lacking):
                which = f"index {rows[0]}" if len(rows) == 1 else f"{len(rows)} of the indices"
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
) -> Iterator[Explanation]:
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
    gradient: str,
    right: Formula,
    values: Sequence[Tensor],
    environments: Sequence[Environment],
    sizes: Sequence[Mapping[str, int]],
    lecture: Mapping[str, int],
) -> Iterator[Explanation]:
    """A right formula with a constant too much or too little, in all of it or in one branch.

    Args:
        gradient: its name.
        right: its formula.
        values: the student's, one a hidden instance.
        environments: the instances.
        sizes: theirs by name.
        lecture: the lecture's.
    """
    wholes = [environment(right) for environment in environments]
    aside = [environment.aside() for environment in environments]
    for node, put in walk(right):
        if node is not right and not isinstance(node, Branch):
            continue
        rest = put(multiply(Number(0.0), node))
        try:
            without = [environment(rest) for environment in aside]
        except DoesNotFit:
            continue
        scales = [_scale(*triple) for triple in zip(values, wholes, without, strict=True)]
        known = [scale for scale in scales if scale is not None]
        factor = name_factor(known, sizes) if len(known) == len(scales) else None
        if factor is None:
            continue
        where = f"`{gradient}`"
        if isinstance(node, Branch) and node is not right:
            where = f"The part of `{gradient}` that comes through `{node.through}`"
        if factor.text == "-1":
            yield Kind.SIGN, f"{where} has the wrong sign."
        elif (name := factor.written_out(lecture)) is not None:
            yield (
                Kind.HARD_CODED_SIZE,
                f"{where} is right at the notebook's sizes only: {name} is written as a number.",
            )
        else:
            kind = Kind.BESSEL if factor.is_bessel else Kind.CONSTANT_FACTOR
            yield kind, f"{where} is {factor.at(lecture)} times what it should be."


def _scale(value: Tensor, whole: Tensor, without: Tensor) -> float | None:
    """The number c for which value = without + c (whole - without), if there is one."""
    if value.shape != whole.shape or without.shape != whole.shape:
        return None
    part = whole - without
    squared = float((part * part).sum())
    if squared == 0:
        return None
    scale = float(((value - without) * part).sum()) / squared
    return scale if agrees(without + scale * part, value) else None


def fit_last_written(
    gradient: str,
    right: Formula,
    values: Sequence[Tensor],
    environments: Sequence[Environment],
) -> Iterator[Explanation]:
    """Rows that each hold one of their contributions, whichever was written last."""
    scatter = right.body if isinstance(right, Branch) else right
    if not isinstance(scatter, Scatter):
        return
    for value, environment in zip(values, environments, strict=True):
        index, body = environment(scatter.index), environment(scatter.body)
        if not isinstance(index, Tensor) or value.shape != environment(scatter.like).shape:
            return
        rows = value.reshape(len(value), -1)
        contributions = body.reshape(index.numel(), -1)
        for number, row in enumerate(rows):
            own = contributions[index.reshape(-1) == number]
            if not any(agrees(row, one) for one in own) and (len(own) or bool(row.any())):
                return
    yield (
        Kind.NOT_ACCUMULATED,
        f"Each row of `{gradient}` holds one of its contributions where their sum belongs.",
    )
